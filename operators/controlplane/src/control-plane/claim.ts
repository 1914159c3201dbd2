/**
 * Ownership of a Tenant. A Tenant is claimed by creating it with the uid of a ControlPlane: of several that want one path, one succeeds. A
 * Tenant with another claim, or without one, is never touched, unless it names who may adopt it.
 */

import { annotations, group } from '../api/index.ts';
import type { ControlPlane } from '../api/index.ts';
import type { TenantObject } from '../host/index.ts';
import type { Verdict } from './world.ts';

/** Returns the name of the owning control plane; undefined: no control plane owns it. */
export const claimOf = ({ metadata }: TenantObject): string | undefined => metadata.annotations?.[annotations.name];

export const isClaimedBy = ({ metadata }: TenantObject, controlPlane: ControlPlane): boolean =>
  metadata.annotations?.[annotations.uid] === controlPlane.metadata.uid;

export const claimAnnotations = ({ metadata }: ControlPlane): Record<string, string> => ({
  [annotations.name]: metadata.name!,
  [annotations.uid]: metadata.uid!,
});

/**
 * Annotation on an unclaimed Tenant: the ControlPlane of this name may claim it. A tenant that was restored from a backup is created by the
 * server, without a claim; `hangar restore` sets this. It is removed by the claim.
 */
export const adoptByAnnotation = `${group}/adopt-by`;

export const mayAdopt = ({ metadata }: TenantObject, controlPlane: ControlPlane): boolean =>
  metadata.annotations?.[adoptByAnnotation] === controlPlane.metadata.name &&
  metadata.annotations?.[annotations.uid] === undefined &&
  metadata.deletionTimestamp === undefined;

/** The class that sets the Tenant's deletion policy. Absent: the control plane itself, or the default. */
export const policyByAnnotation = `${group}/policy-by`;

/** Host names that the operator put on the Tenant; those of others stay. */
export const hostsAnnotation = `${group}/hosts`;

export const taken = (path: string, by: string | undefined): Verdict => ({
  type: 'Accepted',
  reason: 'ClusterPathConflict',
  message:
    by === undefined
      ? `cluster path "${path}" is already used by Tenant "${path}", which does not belong to a ControlPlane: delete that Tenant, or create a control plane with another path`
      : `cluster path "${path}" is already used by ControlPlane "${by}": delete that one, or create a control plane with another path`,
});
