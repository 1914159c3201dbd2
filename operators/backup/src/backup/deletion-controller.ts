/**
 * Deletes the stored data of ControlPlaneBackups that are being deleted, if their deletion policy is Delete. It has its own workers, so
 * that retention does not wait for uploads.
 */

import { find } from '@hangar/client';
import { dropFinalizer, hasFinalizer, isBeingDeleted, matching, setCondition, writeStatus } from '@hangar/runtime';
import type { ControllerOptions, ReconcileContext, Reconciler, Result } from '@hangar/runtime';
import { ControlPlaneBackup, finalizer } from '../api/index.ts';
import { openBackupDestination } from '../destinations/open.ts';
import { faultOf } from '../faults.ts';
import { RetryTimes } from '../retry-times.ts';
import { targetOfKind } from '../world.ts';
import type { BackupWorld } from '../world.ts';
import { backOff } from './outcome.ts';
import type { RunningBackups } from './running-backups.ts';
import { storedNameOf } from './stored-name.ts';

export interface DeletionControllerOptions extends BackupWorld {
  readonly running: RunningBackups;
}

const concurrency = 4;
/** Time for an aborted upload to stop. */
const stopWaitMs = 500;

export function backupDeletionController(world: DeletionControllerOptions): ControllerOptions<ControlPlaneBackup> {
  const retries = new RetryTimes({ clock: world.clock, random: world.random, backOff });
  const failures = new Map<string, number>();
  const reconcile: Reconciler = async (request, context): Promise<Result | void> => {
    const backup = await find(context.client, ControlPlaneBackup, request);
    const retryKey = `${request.namespace}/${request.name}`;
    const forget = (): void => {
      retries.forget(retryKey);
      failures.delete(retryKey);
    };
    if (!backup || !isBeingDeleted(backup)) return forget();
    if (world.running.stop(backup.metadata.uid!)) return { requeueAfterMs: stopWaitMs };
    if (!hasFinalizer(backup, finalizer) || !targetOfKind(world, backup.spec.controlPlaneRef.kind)) return forget();
    // A user who sets the policy to Retain gives up data that cannot be deleted.
    if (backup.spec.deletionPolicy !== 'Delete') {
      await dropFinalizer(context.client, ControlPlaneBackup, backup, finalizer, { signal: context.signal });
      return forget();
    }
    const waitMs = retries.waitMs(retryKey);
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    const problem = await deleteData(backup, world, context.signal);
    if (problem === undefined) {
      await dropFinalizer(context.client, ControlPlaneBackup, backup, finalizer, { signal: context.signal });
      return forget();
    }
    const count = (failures.get(retryKey) ?? 0) + 1;
    failures.set(retryKey, count);
    const requeueAfterMs = retries.failed(retryKey, count);
    await report(backup, problem, world, context);
    return { requeueAfterMs };
  };
  return {
    name: 'controlplanebackup-deletion',
    for: { kind: ControlPlaneBackup, where: matching(isBeingDeleted) },
    concurrency,
    reconcile,
  };
}

/** Returns undefined when the data is deleted. Throws when the operator stops. */
async function deleteData(
  backup: ControlPlaneBackup,
  { destinations }: BackupWorld,
  signal: AbortSignal,
): Promise<{ reason: string; message: string } | undefined> {
  const { metadata, spec, status } = backup;
  try {
    const request = { spec: spec.destination, namespace: metadata.namespace!, signal };
    using opened = await openBackupDestination(destinations, request);
    await opened.destination.delete(status?.storedName ?? storedNameOf(backup), { signal });
    return undefined;
  } catch (error) {
    if (signal.aborted) throw error;
    return faultOf(error, 'backup');
  }
}

async function report(
  object: ControlPlaneBackup,
  { reason, message }: { readonly reason: string; readonly message: string },
  { clock }: BackupWorld,
  { client, signal }: ReconcileContext,
): Promise<void> {
  const advice = 'to delete the object without its data, set spec.deletionPolicy to Retain';
  const text = `the stored data cannot be deleted: ${message}; ${advice}`;
  const condition = { type: 'DataDeleted', status: 'False', reason, message: text } as const;
  const conditions = setCondition(object.status?.conditions, condition, clock);
  const status = { ...object.status, phase: 'Deleting' as const, conditions };
  await writeStatus(client, { kind: ControlPlaneBackup, object, status, signal });
}
