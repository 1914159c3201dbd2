/** Default paths of hooks, as in controller-runtime: `/validate-apps-v1-deployment`, `/mutate--v1-pod`, `/convert`. */

import { groupOf } from '@hangar/client';
import type { KindNames } from '@hangar/client';

export const conversionPath = '/convert';

export const versionOf = ({ apiVersion }: Pick<KindNames, 'apiVersion'>): string =>
  apiVersion.slice(apiVersion.indexOf('/') + 1);

export function admissionPath(verb: 'validate' | 'mutate', kind: KindNames): string {
  return `/${verb}-${groupOf(kind).replaceAll('.', '-')}-${versionOf(kind)}-${kind.kind.toLowerCase()}`;
}
