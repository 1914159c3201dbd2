/** ServiceAccount: only metadata is validated. */

import type { KindValidation } from '../contract.ts';

const annotation = 'kubernetes.io/enforce-mountable-secrets';
const advice = 'deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets';

export const serviceAccount: KindValidation = {
  create: () => [],
  update: () => [],
  warnings(object, old) {
    if (old && Object.hasOwn(old.metadata.annotations ?? {}, annotation)) return [];
    if (!Object.hasOwn(object.metadata.annotations ?? {}, annotation)) return [];
    return [`metadata.annotations[${annotation}]: ${advice}`];
  },
};
