/**
 * Makes ControlPlaneBackups, each one once: Pending, Running, then Complete or Failed. A worker of the controller makes one backup at a
 * time, so the number of workers bounds the memory. Before each attempt the controller writes the status with the resourceVersion that it
 * read, so that of two operators only one starts it; and the stored name belongs to the object, so that a repeated attempt finds the record
 * of an earlier one.
 */

import type { BackupRecord } from '@hangar/backup';
import { find } from '@hangar/client';
import { asError } from '@hangar/core';
import type { Logger } from '@hangar/core';
import { ensureFinalizer, isBeingDeleted, matching, setCondition, writeStatus } from '@hangar/runtime';
import type { ControllerOptions, ReconcileContext, Reconciler, Request, Result } from '@hangar/runtime';
import { ControlPlaneBackup, finalizer } from '../api/index.ts';
import { openBackupDestination } from '../destinations/open.ts';
import { readEncryptionKey } from '../destinations/secrets.ts';
import { faultOf } from '../faults.ts';
import type { Fault } from '../faults.ts';
import { RetryTimes } from '../retry-times.ts';
import { resolveTarget } from '../world.ts';
import type { BackupWorld, ResolvedTarget } from '../world.ts';
import { makeBackup } from './make-backup.ts';
import { afterFailure, backOff, byteText, completeStatus, includesKeys, isFinished, wholeSeconds } from './outcome.ts';
import type { RunningBackups } from './running-backups.ts';
import { storedNameOf } from './stored-name.ts';

export interface BackupControllerOptions extends BackupWorld {
  readonly running: RunningBackups;
  /** Maximum number of backups that are made at the same time. */
  readonly concurrency: number;
}

/** Shorter than the age of the uploads that `removeIncomplete` removes. */
const attemptTimeoutMs = 12 * 3_600_000;
const progressLogMs = 10_000;

export function backupController(world: BackupControllerOptions): ControllerOptions<ControlPlaneBackup> {
  return {
    name: 'controlplanebackup',
    for: { kind: ControlPlaneBackup, where: matching((object) => !isFinished(object)) },
    sources: [world.running.source],
    concurrency: world.concurrency,
    reconcile: new BackupMaker(world).reconcile,
  };
}

/** `signal` is also aborted when the object is deleted. */
type AttemptContext = Pick<ReconcileContext, 'client' | 'log' | 'signal'>;

class BackupMaker {
  readonly #world: BackupControllerOptions;
  readonly #retries: RetryTimes;

  constructor(world: BackupControllerOptions) {
    this.#world = world;
    this.#retries = new RetryTimes({ clock: world.clock, random: world.random, backOff });
  }

  readonly reconcile: Reconciler = async (request, context): Promise<Result | void> => {
    const backup = await find(context.client, ControlPlaneBackup, request);
    const retryKey = keyText(request);
    if (!backup || isBeingDeleted(backup) || isFinished(backup)) return this.#retries.forget(retryKey);
    const resolved = this.#resolve(backup, request);
    if (!resolved) return;
    const waitMs = this.#retries.waitMs(retryKey);
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    using running = this.#world.running.begin(backup.metadata.uid!, request);
    if (!running) return;
    this.#world.metrics.started();
    try {
      const { client, log } = context;
      const signal = AbortSignal.any([context.signal, running.signal]);
      return await this.#attempt(backup, resolved, { client, log, signal });
    } catch (error) {
      // The next reconcile sees that the object is being deleted.
      if (!running.signal.aborted) throw error;
    } finally {
      this.#world.metrics.stopped();
    }
  };

  /** Undefined: another operator makes this backup. */
  #resolve({ spec }: ControlPlaneBackup, { namespace }: Request): ResolvedTarget | Fault | undefined {
    try {
      return resolveTarget(this.#world, spec.controlPlaneRef, namespace!);
    } catch (error) {
      return faultOf(error, 'backup');
    }
  }

  async #attempt(
    backup: ControlPlaneBackup,
    resolved: ResolvedTarget | Fault,
    context: AttemptContext,
  ): Promise<Result | void> {
    const started = await this.#begin(backup, context);
    const outcome = 'reason' in resolved ? resolved : await this.#make(started, resolved, context);
    return 'reason' in outcome ? this.#fail(started, outcome, context) : this.#complete(started, outcome, context);
  }

  async #begin(read: ControlPlaneBackup, { client, signal }: AttemptContext): Promise<ControlPlaneBackup> {
    const { clock, events } = this.#world;
    const deletes = read.spec.deletionPolicy === 'Delete';
    const backup = deletes ? await ensureFinalizer(client, ControlPlaneBackup, read, finalizer, { signal }) : read;
    const attempts = (backup.status?.attempts ?? 0) + 1;
    const observedGeneration = backup.metadata.generation ?? 0;
    const message = attempts === 1 ? 'the backup is being made' : `the backup is being made, attempt ${attempts}`;
    const condition = { type: 'Complete', status: 'False', reason: 'Running', message, observedGeneration } as const;
    const started = await writeStatus(client, {
      kind: ControlPlaneBackup,
      object: backup,
      status: {
        ...backup.status,
        phase: 'Running',
        storedName: storedNameOf(backup),
        startTime: backup.status?.startTime ?? wholeSeconds(clock.now()),
        attempts,
        observedGeneration,
        conditions: setCondition(backup.status?.conditions, condition, clock),
      },
      signal,
    });
    if (attempts === 1) events.normal(started, 'BackupStarted', `Started a backup of ${nameOf(started)}`);
    return started;
  }

  /** Makes the backup, and returns its record and location, or the fault of the attempt. Throws when the operator stops. */
  async #make(
    { metadata, spec, status }: ControlPlaneBackup,
    resolved: ResolvedTarget,
    { signal: stopped, log }: AttemptContext,
  ): Promise<{ record: BackupRecord; location: string } | Fault> {
    const { clock, random, destinations } = this.#world;
    const namespace = metadata.namespace!;
    const late = new AbortController();
    const timer = clock.after(attemptTimeoutMs, () => late.abort());
    const signal = AbortSignal.any([stopped, late.signal]);
    try {
      const reading = { reader: destinations.reader, namespace, signal };
      const key = await readEncryptionKey(spec.encryption, reading);
      using opened = await openBackupDestination(destinations, { spec: spec.destination, namespace, signal });
      const record = await makeBackup({
        ...resolved,
        destination: opened.destination,
        storedName: status!.storedName!,
        key,
        compression: spec.compression ?? 'zstd',
        includesKeys: includesKeys(spec),
        signal,
        clock,
        random,
        onProgress: this.#progressLog(log),
      });
      return { record, location: opened.location };
    } catch (error) {
      if (stopped.aborted) throw error;
      if (!late.signal.aborted) return faultOf(error, 'backup');
      const message = `the backup did not complete in ${attemptTimeoutMs / 3_600_000} hours`;
      return { reason: 'DeadlineExceeded', message, isPermanent: false };
    } finally {
      timer.cancel();
    }
  }

  #progressLog(log: Logger): (bytes: number) => void {
    const { clock } = this.#world;
    let loggedMs = clock.monotonicMs();
    return (bytes) => {
      if (clock.monotonicMs() - loggedMs < progressLogMs) return;
      loggedMs = clock.monotonicMs();
      log.info('backup in progress', { storedBytes: bytes });
    };
  }

  async #complete(
    started: ControlPlaneBackup,
    { record, location }: { readonly record: BackupRecord; readonly location: string },
    { client, signal, log }: AttemptContext,
  ): Promise<void> {
    const { clock, events, metrics } = this.#world;
    const { status = {}, metadata } = started;
    const message = `stored as ${record.name} in ${location}`;
    const observedGeneration = metadata.generation ?? 0;
    const condition = { type: 'Complete', status: 'True', reason: 'Stored', message, observedGeneration } as const;
    const conditions = setCondition(status.conditions, condition, clock);
    await writeStatus(client, {
      kind: ControlPlaneBackup,
      object: started,
      status: { ...status, ...completeStatus(record), location, conditions },
      signal,
    });
    this.#retries.forget(keyText(metadata));
    const durationMs = Math.max(0, Date.parse(record.storedAt) - Date.parse(status.startTime!));
    metrics.completed({ durationMs, sizeBytes: record.sizeBytes });
    events.normal(started, 'BackupComplete', `Backup of ${nameOf(started)} ${message}, ${byteText(record.sizeBytes)}`);
    log.info('backup complete', { storedName: record.name, sizeBytes: record.sizeBytes });
  }

  async #fail(
    started: ControlPlaneBackup,
    fault: Fault,
    { client, signal, log }: AttemptContext,
  ): Promise<Result | void> {
    const { clock, events, metrics } = this.#world;
    const { status = {}, metadata } = started;
    const { phase, condition } = afterFailure(fault, status.attempts ?? 1);
    const conditions = setCondition(
      status.conditions,
      { ...condition, observedGeneration: metadata.generation },
      clock,
    );
    const delayMs = this.#retries.failed(keyText(metadata), status.attempts ?? 1);
    await writeStatus(client, {
      kind: ControlPlaneBackup,
      object: started,
      status: { ...status, phase, conditions },
      signal,
    });
    metrics.attemptFailed(fault.reason);
    log.warn('backup failed', { reason: fault.reason, error: asError(fault.message), isRetried: phase === 'Pending' });
    if (phase === 'Pending') return { requeueAfterMs: delayMs };
    this.#retries.forget(keyText(metadata));
    events.warning(started, 'BackupFailed', `Backup of ${nameOf(started)} failed (${fault.reason}): ${fault.message}`);
  }
}

const keyText = ({ namespace, name }: { namespace?: string | undefined; name?: string }): string =>
  `${namespace}/${name}`;

const nameOf = ({ spec }: ControlPlaneBackup): string =>
  `${spec.controlPlaneRef.kind ?? 'ControlPlane'} ${JSON.stringify(spec.controlPlaneRef.name)}`;
