/**
 * Deletes the HostedControlPlane of a control plane by its policy: Destroy deletes it with its etcd and all data; Retain stops it, and keeps
 * it with its namespace for the next control plane of this name. Reads from the server, never from a cache.
 */

import { find, keyOf } from '@hangar/client';
import { findCondition, isBeingDeleted, isConditionTrue, isControlledBy } from '@hangar/runtime';
import { annotations, ControlPlaneClass } from '../api/index.ts';
import type { DeletionPolicy } from '../api/index.ts';
import { deletionPolicyOf } from '../control-plane/steps/tenant.ts';
import type { Pass } from '../control-plane/world.ts';
import { HostedControlPlane, stoppedAnnotation, stoppedCondition } from '../dedicated/hosted-control-plane.ts';
import type { HostedControlPlaneObject } from '../dedicated/hosted-control-plane.ts';
import { isRecordedDedicated } from '../dedicated/recorded-mode.ts';
import { retain, retainedRecord } from '../dedicated/retained.ts';
import { recordOf, servingMode } from '../migration/record.ts';

/** Why the deletion cannot continue yet. */
export interface HostedWait {
  readonly reason: string;
  readonly message: string;
  /** Events usually come earlier. */
  readonly lookAgainMs: number;
}

const deletionLookMs = 5_000;
const policyLookMs = 60_000;

/** `none`: the control plane is not dedicated. `deleted`: no HostedControlPlane is left. `retained`: it is stopped, and has no owner. */
export async function endHosted(pass: Pass): Promise<'none' | 'deleted' | 'retained' | HostedWait> {
  const { apiReader, controlPlane, namespace, signal } = pass;
  const isDedicated = controlPlane.spec?.mode === 'Dedicated' || servingMode(controlPlane) === 'Dedicated';
  if (!isDedicated && !(await isRecordedDedicated(pass))) return 'none';
  const key = { namespace, name: controlPlane.metadata.name! };
  const there = await find(apiReader, HostedControlPlane, key, { signal });
  if (!there) return 'deleted';
  // When it has no owner, its data was retained before.
  if (!isControlledBy(there, controlPlane)) return (await retainedRecord(pass)) ? 'retained' : 'deleted';
  if (isBeingDeleted(there)) return deleting(there);
  if (!(await mustRetain(pass, there))) return destroy(pass, there);
  return recordOf(controlPlane) && servingMode(controlPlane) === 'Dedicated' ? movedData(there) : keep(pass, there);
}

/** When the data is recorded as retained, a change of the policy is too late. */
async function mustRetain(pass: Pass, { metadata }: HostedControlPlaneObject): Promise<boolean> {
  if ((await lastPolicy(pass)) !== 'Destroy') return true;
  return (await retainedRecord(pass))?.hostedUid === metadata.uid;
}

async function destroy(pass: Pass, there: HostedControlPlaneObject): Promise<HostedWait> {
  const { client, world, signal } = pass;
  const preconditions = { uid: there.metadata.uid! };
  await world.writes.make('hosted-control-plane-delete', () =>
    client.delete(HostedControlPlane, keyOf(there), { preconditions, signal }),
  );
  return deleting(there);
}

/** The data is at rest before it has no owner. */
async function keep(pass: Pass, there: HostedControlPlaneObject): Promise<'retained' | HostedWait> {
  const { client, world, signal } = pass;
  const { uid, resourceVersion, annotations: known } = there.metadata;
  if (known?.[stoppedAnnotation] !== 'true' || known[annotations.retained] === undefined) {
    const since = new Date(world.clock.now()).toISOString();
    const stopped = { [stoppedAnnotation]: 'true', [annotations.retained]: since };
    const body = { metadata: { uid, resourceVersion, annotations: stopped } };
    await world.writes.make('hosted-control-plane-stop', () =>
      client.patch(HostedControlPlane, keyOf(there), { type: 'merge', body }, { signal }),
    );
  } else if (isConditionTrue(there.status?.conditions, stoppedCondition)) {
    await retain(pass, there);
    return 'retained';
  }
  const message = findCondition(there.status?.conditions, stoppedCondition)?.message;
  const why = message === undefined ? '' : `: ${message}`;
  return waiting(`waiting until ${quoted(there)} is stopped${why}`);
}

/** A tenant would keep an address without data. */
function movedData(there: HostedControlPlaneObject): HostedWait {
  const message = `the data was migrated to ${quoted(there)} and cannot be retained there: set spec.deletionPolicy to Destroy; a control plane that is migrated back to mode Virtual before its deletion retains its data`;
  return { reason: 'RetainNotSupported', message, lookAgainMs: policyLookMs };
}

function deleting(there: HostedControlPlaneObject): HostedWait {
  const { reason, message } = findCondition(there.status?.conditions, 'Ready') ?? {};
  const why = isBeingDeleted(there) && reason !== undefined ? `: ${reason}: ${message}` : '';
  return waiting(`waiting for the deletion of ${quoted(there)}${why}`);
}

const waiting = (message: string): HostedWait => ({ reason: 'Deleting', message, lookAgainMs: deletionLookMs });
const quoted = ({ metadata }: HostedControlPlaneObject): string =>
  `HostedControlPlane "${metadata.namespace}/${metadata.name}"`;

/** The class is read from the server. The policy of a class that is gone is unknown: the data is retained. */
async function lastPolicy({ controlPlane, apiReader, signal }: Pass): Promise<DeletionPolicy> {
  const { classRef, deletionPolicy } = controlPlane.spec ?? {};
  if (!classRef || deletionPolicy) return deletionPolicyOf({ controlPlane });
  const ofClass = await find(apiReader, ControlPlaneClass, { name: classRef.name }, { signal });
  return deletionPolicyOf({ controlPlane, class: ofClass });
}
