/**
 * The deletion policy of a control plane, as the operator computes it: from its spec, else from its class, else Retain. For a deleted
 * class, the last known policy counts, which is kept on the Tenant.
 */

import { clusterPathOf, controlPlaneGroup } from '../kinds.ts';
import type { ControlPlaneClassObject, ControlPlaneObject, TenantObject } from '../kinds.ts';

/** Annotations that the operator writes on a Tenant: the uid of its ControlPlane, and the class that its policy comes from. */
export const ownerAnnotation = `${controlPlaneGroup}/uid`;
export const policyByAnnotation = `${controlPlaneGroup}/policy-by`;

export type DeletionPolicy = 'Retain' | 'Destroy';

/** Reports whether the class decides, so that it must be read. */
export const isByClass = ({ spec }: ControlPlaneObject): boolean =>
  spec?.deletionPolicy === undefined && spec?.classRef?.name !== undefined;

/** Undefined: unknown, because the class was deleted. */
export function deletionPolicyOf(
  plane: ControlPlaneObject,
  planeClass: ControlPlaneClassObject | undefined,
  tenant: TenantObject | undefined,
): DeletionPolicy | undefined {
  if (!isByClass(plane)) return plane.spec?.deletionPolicy ?? 'Retain';
  if (planeClass) return planeClass.spec?.deletionPolicy ?? 'Retain';
  const { name, annotations } = tenant?.metadata ?? {};
  // The tenants may be in another Hangar; a tenant of this name here is then unrelated.
  if (name !== clusterPathOf(plane) || annotations?.[ownerAnnotation] !== plane.metadata.uid) return undefined;
  if (tenant?.spec?.deletionPolicy !== 'Destroy') return 'Retain';
  // Versions of the operator differ in how they treat a policy that is not from this class.
  return annotations?.[policyByAnnotation] === plane.spec?.classRef?.name ? 'Destroy' : undefined;
}
