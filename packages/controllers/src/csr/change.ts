/** The resource that all three controllers of this folder watch. */

import type { ResourceId } from '../contract.ts';

export const isSigningRequest = ({ group, resource }: ResourceId): boolean =>
  resource === 'certificatesigningrequests' && group === 'certificates.k8s.io';
