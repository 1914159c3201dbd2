/**
 * Deletes the HostedControlPlane of a control plane, with its etcd and all data. Reads from the server, never from a cache. Data that was to
 * be retained is not deleted: then the deletion waits until the policy is Destroy.
 */

import { find } from '@hangar/client';
import { findCondition, isBeingDeleted, isControlledBy } from '@hangar/runtime';
import { ControlPlaneClass } from '../api/index.ts';
import type { DeletionPolicy } from '../api/index.ts';
import { deletionPolicyOf } from '../control-plane/steps/tenant.ts';
import type { Pass } from '../control-plane/world.ts';
import { HostedControlPlane } from '../dedicated/hosted-control-plane.ts';
import { isRecordedDedicated } from '../dedicated/recorded-mode.ts';

/** Why the deletion cannot continue yet. */
export interface HostedWait {
  readonly reason: string;
  readonly message: string;
  /** Events usually come earlier. */
  readonly lookAgainMs: number;
}

const deletionLookMs = 5_000;
const policyLookMs = 60_000;

/** `none`: the control plane is not dedicated. `deleted`: no HostedControlPlane is left. */
export async function endHosted(pass: Pass): Promise<'none' | 'deleted' | HostedWait> {
  const { apiReader, client, controlPlane, namespace, world, signal } = pass;
  if (controlPlane.spec?.mode !== 'Dedicated' && !(await isRecordedDedicated(pass))) return 'none';
  const key = { namespace, name: controlPlane.metadata.name! };
  const there = await find(apiReader, HostedControlPlane, key, { signal });
  if (!there || !isControlledBy(there, controlPlane)) return 'deleted';
  const quoted = `HostedControlPlane "${namespace}/${key.name}"`;
  if (!isBeingDeleted(there)) {
    if ((await lastPolicy(pass)) !== 'Destroy') {
      const message = `the deletion policy is Retain, which mode Dedicated does not support: set spec.deletionPolicy to Destroy to delete ${quoted} with all data`;
      return { reason: 'RetainNotSupported', message, lookAgainMs: policyLookMs };
    }
    const preconditions = { uid: there.metadata.uid! };
    await world.writes.make('hosted-control-plane-delete', () =>
      client.delete(HostedControlPlane, key, { preconditions, signal }),
    );
  }
  const { reason, message } = findCondition(there.status?.conditions, 'Ready') ?? {};
  const why = isBeingDeleted(there) && reason !== undefined ? `: ${reason}: ${message}` : '';
  return { reason: 'Deleting', message: `waiting for the deletion of ${quoted}${why}`, lookAgainMs: deletionLookMs };
}

/** The class is read from the server. The policy of a class that is gone is unknown: its data is not deleted. */
async function lastPolicy({ controlPlane, apiReader, signal }: Pass): Promise<DeletionPolicy> {
  const { classRef, deletionPolicy } = controlPlane.spec ?? {};
  if (!classRef || deletionPolicy) return deletionPolicyOf({ controlPlane });
  const ofClass = await find(apiReader, ControlPlaneClass, { name: classRef.name }, { signal });
  return deletionPolicyOf({ controlPlane, class: ofClass });
}
