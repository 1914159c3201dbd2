/**
 * Executes ControlPlaneRestores, each one once: Pending, Running, then Complete or Failed. All bytes of the backup are verified before the
 * target is called, so that a damaged backup changes nothing. A target continues a restore by the uid of its object, so that a restarted
 * operator calls it again with the same arguments.
 */

import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { isBeingDeleted, matching, setCondition, writeStatus } from '@hangar/runtime';
import type { Cache, ControllerOptions, NewCondition, ReconcileContext, Reconciler, Result } from '@hangar/runtime';
import { ControlPlaneBackup, ControlPlaneRestore } from '../api/index.ts';
import type { ControlPlaneRestoreStatus } from '../api/index.ts';
import { wholeSeconds } from '../backup/outcome.ts';
import { ReferenceFault } from '../errors.ts';
import { faultOf } from '../faults.ts';
import type { Fault } from '../faults.ts';
import { RetryTimes } from '../retry-times.ts';
import { resolveTarget, targetOfKind } from '../world.ts';
import type { BackupWorld, ResolvedTarget } from '../world.ts';
import { runRestore } from './run-restore.ts';
import type { RestoreResult } from './run-restore.ts';
import { sourceOfBackup, sourceOfStored } from './source.ts';
import type { BackupSource } from './source.ts';

const concurrency = 2;
const backOff = { baseMs: 5_000, maxMs: 300_000 };
/** A restore that has changed nothing fails after this time. One that has begun to change data is continued. */
const waitMaxMs = 3_600_000;
const busyRetryMs = 10_000;
/** Reason of the condition from the moment at which the target may have been called. */
const restoring = 'Restoring';

export function restoreController(world: BackupWorld): ControllerOptions<ControlPlaneRestore> {
  return {
    name: 'controlplanerestore',
    for: { kind: ControlPlaneRestore, where: matching((object) => !isFinished(object)) },
    concurrency,
    reconcile: new Restorer(world).reconcile,
  };
}

const isFinished = ({ status }: ControlPlaneRestore): boolean =>
  status?.phase === 'Complete' || status?.phase === 'Failed';
const completeReason = ({ status }: ControlPlaneRestore): string | undefined =>
  status?.conditions?.find(({ type }) => type === 'Complete')?.reason;

interface Step {
  readonly client: Client;
  readonly signal: AbortSignal;
  /** As last written. */
  object: ControlPlaneRestore;
}

class Restorer {
  readonly #world: BackupWorld;
  readonly #retries: RetryTimes;
  readonly #failures = new Map<string, number>();
  /** Control planes whose restore runs in this process. */
  readonly #busy = new Set<string>();

  constructor(world: BackupWorld) {
    this.#world = world;
    this.#retries = new RetryTimes({ clock: world.clock, random: world.random, backOff });
  }

  readonly reconcile: Reconciler = async (request, context): Promise<Result | void> => {
    const { client, signal } = context;
    const object = await find(client, ControlPlaneRestore, request);
    const key = `${request.namespace}/${request.name}`;
    if (!object || isBeingDeleted(object) || isFinished(object)) return this.#forget(key);
    if (!targetOfKind(this.#world, object.spec.controlPlaneRef.kind)) return;
    const waitMs = this.#retries.waitMs(key);
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    const step: Step = { client, signal, object };
    const plane = planeKey(object);
    if (this.#busy.has(plane) || isRestoredByAnother(context.cluster.cache, object)) {
      const message = 'another ControlPlaneRestore of this control plane runs';
      await this.#write(step, { phase: 'Pending' }, { status: 'False', reason: 'Waiting', message });
      return { requeueAfterMs: busyRetryMs };
    }
    this.#busy.add(plane);
    try {
      return await this.#run(step, key, context);
    } finally {
      this.#busy.delete(plane);
    }
  };

  #forget(key: string): void {
    this.#retries.forget(key);
    this.#failures.delete(key);
  }

  async #run(step: Step, key: string, context: ReconcileContext): Promise<Result | void> {
    let result: RestoreResult;
    try {
      const resolved = resolveTarget(this.#world, step.object.spec.controlPlaneRef, step.object.metadata.namespace!)!;
      result = await this.#restore(step, resolved);
    } catch (error) {
      if (context.signal.aborted || isConflict(error)) throw error;
      return this.#fail(step, key, faultOf(error, 'restore'));
    }
    if (result.state === 'Pending') {
      this.#forget(key);
      await this.#write(step, { phase: 'Running' }, { status: 'False', reason: restoring, message: result.message });
      return { requeueAfterMs: result.retryAfterMs };
    }
    await this.#complete(step, result);
    this.#forget(key);
  }

  async #restore(step: Step, resolved: ResolvedTarget): Promise<RestoreResult> {
    const { spec, metadata } = step.object;
    const isVerified = completeReason(step.object) === restoring;
    if (!isVerified) {
      const message = 'all bytes of the backup are being verified';
      await this.#write(step, { phase: 'Running' }, { status: 'False', reason: 'Verifying', message });
    }
    const source = await sourceOf(step.client, step.object);
    return runRestore(this.#world, {
      ...resolved,
      source,
      mode: spec.mode ?? 'New',
      uid: metadata.uid!,
      className: spec.className,
      signal: step.signal,
      isVerified,
      onVerified: async () => {
        const message = 'the backup is verified, and the control plane is being restored';
        await this.#write(step, { phase: 'Running' }, { status: 'False', reason: restoring, message });
        const mode = spec.mode === 'InPlace' ? 'Replacing all data of' : 'Creating';
        this.#world.events.normal(
          step.object,
          'RestoreStarted',
          `${mode} ${nameOf(step.object)} from a verified backup`,
        );
      },
    });
  }

  async #complete(step: Step, result: RestoreResult & { state: 'Complete' }): Promise<void> {
    const { clock, events, metrics } = this.#world;
    const { summary, comparison } = result;
    const fields = {
      objects: summary.objects,
      contentDigest: summary.contentDigest,
      completionTime: wholeSeconds(clock.now()),
    };
    if (comparison.isEqual === false) {
      const { message } = comparison;
      await this.#write(step, { ...fields, phase: 'Failed' }, { status: 'False', reason: 'ContentDiffers', message });
      events.warning(step.object, 'RestoreFailed', `Restore of ${nameOf(step.object)}: ${message}`);
      return metrics.restored('Failed');
    }
    const note = comparison.isEqual ? 'with the digest of the backup' : `not compared: ${comparison.message}`;
    const message = `${summary.objects} objects are restored, ${note}`;
    await this.#write(step, { ...fields, phase: 'Complete' }, { status: 'True', reason: 'Restored', message });
    events.normal(step.object, 'RestoreComplete', `${nameOf(step.object)}: ${message}`);
    metrics.restored('Complete');
  }

  async #fail(step: Step, key: string, { reason, message, isPermanent }: Fault): Promise<Result | void> {
    const { clock, events, metrics } = this.#world;
    const isRestoring = completeReason(step.object) === restoring;
    const startMs = Date.parse(step.object.status?.startTime ?? wholeSeconds(clock.now()));
    const isLast = isPermanent || (!isRestoring && clock.now() - startMs >= waitMaxMs);
    if (isLast) {
      const fields = { phase: 'Failed', completionTime: wholeSeconds(clock.now()) } as const;
      await this.#write(step, fields, { status: 'False', reason, message });
      events.warning(step.object, 'RestoreFailed', `Restore of ${nameOf(step.object)} failed (${reason}): ${message}`);
      metrics.restored('Failed');
      return this.#forget(key);
    }
    const count = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, count);
    const requeueAfterMs = this.#retries.failed(key, count);
    const text = `${message}; retrying`;
    // The reason shows that the target may have changed data, so it stays.
    const shown = isRestoring ? { reason: restoring, message: `${reason}: ${text}` } : { reason, message: text };
    await this.#write(step, { phase: isRestoring ? 'Running' : 'Pending' }, { status: 'False', ...shown });
    return { requeueAfterMs };
  }

  async #write(step: Step, fields: ControlPlaneRestoreStatus, condition: Omit<NewCondition, 'type'>): Promise<void> {
    const { clock } = this.#world;
    const { metadata, status } = step.object;
    const observedGeneration = metadata.generation ?? 0;
    const conditions = setCondition(status?.conditions, { type: 'Complete', ...condition, observedGeneration }, clock);
    const startTime = status?.startTime ?? wholeSeconds(clock.now());
    const next = { ...status, startTime, ...fields, observedGeneration, conditions };
    const { client, signal, object } = step;
    step.object = await writeStatus(client, { kind: ControlPlaneRestore, object, status: next, signal });
  }
}

async function sourceOf(client: Client, { metadata, spec }: ControlPlaneRestore): Promise<BackupSource> {
  const namespace = metadata.namespace!;
  if (spec.source.stored) return sourceOfStored(spec.source.stored, namespace);
  const name = spec.source.backupName!;
  const backup = await find(client, ControlPlaneBackup, { namespace, name });
  if (backup) return sourceOfBackup(backup);
  throw new ReferenceFault('BackupNotFound', `ControlPlaneBackup ${JSON.stringify(name)} does not exist; create it`);
}

const planeKey = ({ metadata, spec }: ControlPlaneRestore): string =>
  [metadata.namespace, spec.controlPlaneRef.kind ?? 'ControlPlane', spec.controlPlaneRef.name].join('/');

function isRestoredByAnother(cache: Cache, object: ControlPlaneRestore): boolean {
  const plane = planeKey(object);
  return Iterator.from(cache.informer(ControlPlaneRestore).all(object.metadata.namespace)).some(
    (other) =>
      other.metadata.uid !== object.metadata.uid &&
      other.status?.phase === 'Running' &&
      completeReason(other) === restoring &&
      planeKey(other) === plane,
  );
}

/** Of a write of the status: the next reconcile reads the current object. */
const isConflict = (error: unknown): boolean => hasCode(error, 'Conflict');

const nameOf = ({ spec }: ControlPlaneRestore): string =>
  `${spec.controlPlaneRef.kind ?? 'ControlPlane'} ${JSON.stringify(spec.controlPlaneRef.name)}`;
