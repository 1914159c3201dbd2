/**
 * What happens to the data of a control plane that is deleted, as the operator has it: its own word, its class's, Retain. Of a class that
 * is gone the last word counts, which is kept on the Tenant.
 */

import { clusterPathOf, controlPlaneGroup } from '../kinds.ts';
import type { ControlPlaneClassObject, ControlPlaneObject, TenantObject } from '../kinds.ts';

/** On a Tenant: the ControlPlane whose it is, and the class whose word its policy is. The operator writes them. */
export const ownerAnnotation = `${controlPlaneGroup}/uid`;
export const policyByAnnotation = `${controlPlaneGroup}/policy-by`;

export type DeletionPolicy = 'Retain' | 'Destroy';

/** Whether the class decides: then it must be looked for. */
export const isByClass = ({ spec }: ControlPlaneObject): boolean =>
  spec?.deletionPolicy === undefined && spec?.classRef?.name !== undefined;

/** Undefined: it is not known here, and may be either. That happens only when the class is gone. */
export function deletionPolicyOf(
  plane: ControlPlaneObject,
  planeClass: ControlPlaneClassObject | undefined,
  tenant: TenantObject | undefined,
): DeletionPolicy | undefined {
  if (!isByClass(plane)) return plane.spec?.deletionPolicy ?? 'Retain';
  if (planeClass) return planeClass.spec?.deletionPolicy ?? 'Retain';
  const { name, annotations } = tenant?.metadata ?? {};
  // Tenants may be in another Hangar, and one of this name here is nothing to it.
  if (name !== clusterPathOf(plane) || annotations?.[ownerAnnotation] !== plane.metadata.uid) return undefined;
  if (tenant?.spec?.deletionPolicy !== 'Destroy') return 'Retain';
  // Operators of different ages differ about a word that is not this class's.
  return annotations?.[policyByAnnotation] === plane.spec?.classRef?.name ? 'Destroy' : undefined;
}
