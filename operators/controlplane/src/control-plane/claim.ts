/**
 * Whose a Tenant is. It is claimed by being created with the uid of a ControlPlane: of several that want one path, one succeeds. A
 * Tenant with another's claim, or without one, is never touched, unless it says who may adopt it.
 */

import { annotations, group } from '../api/index.ts';
import type { ControlPlane } from '../api/index.ts';
import type { TenantObject } from '../host/index.ts';
import type { Verdict } from './world.ts';

/** The name of the control plane that has it; undefined: it is nobody's of ours. */
export const claimOf = ({ metadata }: TenantObject): string | undefined => metadata.annotations?.[annotations.name];

export const isClaimedBy = ({ metadata }: TenantObject, controlPlane: ControlPlane): boolean =>
  metadata.annotations?.[annotations.uid] === controlPlane.metadata.uid;

export const claimAnnotations = ({ metadata }: ControlPlane): Record<string, string> => ({
  [annotations.name]: metadata.name!,
  [annotations.uid]: metadata.uid!,
});

/**
 * On a Tenant that nobody has claimed: the ControlPlane of this name may. A tenant that was restored from a backup is made by the
 * server, without a claim; `hangar restore` asks for it so. It counts once: with the claim it goes.
 */
export const adoptByAnnotation = `${group}/adopt-by`;

export const mayAdopt = ({ metadata }: TenantObject, controlPlane: ControlPlane): boolean =>
  metadata.annotations?.[adoptByAnnotation] === controlPlane.metadata.name &&
  metadata.annotations?.[annotations.uid] === undefined &&
  metadata.deletionTimestamp === undefined;

/** The class whose word the Tenant's deletion policy is. Absent: the control plane's own, or nobody's. */
export const policyByAnnotation = `${group}/policy-by`;

/** Host names that the operator put on the Tenant; those that others put there stay. */
export const hostsAnnotation = `${group}/hosts`;

export const taken = (path: string, by: string | undefined): Verdict => ({
  type: 'Accepted',
  reason: 'ClusterPathConflict',
  message:
    by === undefined
      ? `cluster path "${path}" is already used by Tenant "${path}", which does not belong to a ControlPlane: delete that Tenant, or create a control plane with another path`
      : `cluster path "${path}" is already used by ControlPlane "${by}": delete that one, or create a control plane with another path`,
});
