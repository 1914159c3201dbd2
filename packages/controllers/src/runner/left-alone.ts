/**
 * Which control planes are not ours to work on: those that are suspended, where nothing may be written, and those that a real
 * kube-controller-manager serves.
 */

import type { KubeObject } from '@hangar/api';

/** On a `Tenant`: whose controllers serve it. */
export const controllersAnnotation = 'tenancy.hangar.dev/controllers';
export const externalControllers = 'External';

export function isLeftAlone(tenant: KubeObject): boolean {
  const { spec } = tenant as { spec?: { suspension?: unknown } };
  if (typeof spec?.suspension === 'string' && spec.suspension !== '') return true;
  return tenant.metadata.annotations?.[controllersAnnotation] === externalControllers;
}
