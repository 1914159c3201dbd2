/** DenyServiceExternalIPs: denies new external IPs of Services, which could intercept traffic to other hosts. */

import type { KubeObject } from '@hangar/api';
import type { AdmissionPlugin } from '../admission.ts';
import type { List } from './pod.ts';
import { forbid } from '../refusal.ts';

const addressesOf = (service: KubeObject | undefined): readonly string[] =>
  (service?.['spec'] as { externalIPs?: List<string> } | undefined)?.externalIPs ?? [];

export const denyServiceExternalIps: AdmissionPlugin = {
  name: 'DenyServiceExternalIPs',
  resources: new Set(['/services']),
  validate(request) {
    const { operation, subresource, object, old } = request;
    if (subresource !== '' || (operation !== 'CREATE' && operation !== 'UPDATE')) return;
    const before = new Set(addressesOf(old));
    if (addressesOf(object).every((address) => before.has(address))) return;
    throw forbid(request, 'Use of external IPs is denied by admission control');
  },
};
