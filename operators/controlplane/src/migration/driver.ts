/**
 * Executes a migration: observes both sides, takes the next action, and observes again. Keeps no decisions: after a restart, or in another
 * process, the record and the state of both sides lead to the same actions.
 */

import { asError, orAborted } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import type { Revision } from '@hangar/store';
import type { ControlPlaneMode, MigrationStep } from '../api/index.ts';
import type { TenantReplica } from './contract.ts';
import { Copy } from './copy.ts';
import { lagOf } from './protocol.ts';
import type { Action, CopyProgress, nextAction, Observed, UnknownState } from './protocol.ts';
import { retryMsAfter, timeOf, withAttempt, withOutcome, withoutAttempt } from './record.ts';
import type { MigrationRecord } from './record.ts';
import type { DedicatedSide } from './sides.ts';
import type { MigrationTimings } from './timings.ts';

/** A ControlPlane with a migration that is not complete, as read from the server. */
export interface MigratingPlane {
  /** `spec.mode`; the old mode while the ControlPlane is being deleted. */
  readonly wanted: ControlPlaneMode;
  readonly record: MigrationRecord;
  readonly pauseMsMax: number;
  readonly gracePeriodMs: number;
}

export interface MigrationRecords<Plane extends MigratingPlane = MigratingPlane> {
  /** Reads from the server, not from a cache. Undefined: no migration is in progress. */
  read(signal: AbortSignal): Promise<Plane | undefined>;
  /** Rejects with `Conflict` if the ControlPlane has changed since it was read. */
  write(plane: Plane, record: MigrationRecord, signal: AbortSignal): Promise<Plane>;
}

export interface DriverOptions {
  readonly records: MigrationRecords;
  readonly tenant: TenantReplica;
  readonly dedicated: DedicatedSide;
  readonly clock: Clock;
  readonly log: Logger;
  readonly timings: MigrationTimings;
  readonly decide: typeof nextAction;
}

/** Delay until the next pass. Undefined: the migration is complete. */
export type NextPassMs = number | undefined;

const idle: CopyProgress = { isRunning: false };
const compareMsMax = 30 * 60_000;
const progressEveryMs = 5_000;
/** A failure is named in the record after this many times `pollMs`. A concurrent write is repeated before that. */
const failureAfterPolls = 5;
const failurePrefix = 'the last action failed, retrying: ';

/** Removes the message about a failure that the action of this record has overcome. */
function withoutFailure(next: MigrationRecord, { message: before }: MigrationRecord): MigrationRecord {
  const { message, ...rest } = next;
  return message === before && message?.startsWith(failurePrefix) ? rest : next;
}

const unknownState = (error: unknown): UnknownState => ({ phase: 'Unknown', message: asError(error).message });

export class MigrationDriver {
  readonly #options: DriverOptions;
  #copy: { readonly id: string; readonly copy: Copy; readonly stop: AbortController } | undefined;
  #comparing: Promise<void> | undefined;
  #progressMs = -Infinity;
  /** When the first of the consecutive failed passes failed. */
  #failingSinceMs: number | undefined;

  constructor(options: DriverOptions) {
    this.#options = options;
  }

  /** Takes one action. Rejects with `Conflict` after a concurrent change of the ControlPlane. The record names a failure that persists. */
  async pass(signal: AbortSignal): Promise<NextPassMs> {
    try {
      const nextMs = await this.#pass(signal);
      this.#failingSinceMs = undefined;
      return nextMs;
    } catch (error) {
      if (!signal.aborted) await this.#reportFailure(asError(error), signal);
      throw error;
    }
  }

  async #pass(signal: AbortSignal): Promise<NextPassMs> {
    const { clock, timings, decide } = this.#options;
    const stop = new AbortController();
    const timer = clock.after(timings.passMsMax, () => stop.abort());
    const bounded = AbortSignal.any([signal, stop.signal]);
    try {
      const observed = await orAborted(this.#observe(bounded), bounded);
      if (!observed) {
        await this.close();
        return undefined;
      }
      if (observed.record.outcome !== undefined) await this.close();
      const action = decide(observed);
      if (bounded.aborted) return 0;
      return await orAborted(this.#execute(action, observed, bounded), bounded);
    } finally {
      timer.cancel();
    }
  }

  /** Stops the copy. */
  async close(): Promise<void> {
    const running = this.#copy;
    this.#copy = undefined;
    running?.stop.abort();
    await running?.copy.ended();
  }

  async #observe(signal: AbortSignal): Promise<(Observed & { readonly plane: MigratingPlane }) | undefined> {
    const { records, tenant, dedicated, clock, timings } = this.#options;
    const plane = await records.read(signal);
    if (!plane) return undefined;
    const { record } = plane;
    const isOurs = this.#copy?.id === record.id;
    if (!isOurs) await this.close();
    if (record.outcome === undefined) this.#copy?.copy.renew();
    const [tenantState, dedicatedState, isDedicatedThere] = await Promise.all([
      this.#answer(signal, (bounded) => tenant.state(bounded)).catch(unknownState),
      this.#answer(signal, (bounded) => dedicated.replica.state(bounded)).catch(unknownState),
      this.#answer(signal, (bounded) => dedicated.exists(bounded)).catch(() => undefined),
    ]);
    return {
      plane,
      nowMs: clock.now(),
      wanted: plane.wanted,
      record,
      tenant: tenantState,
      dedicated: dedicatedState,
      isDedicatedThere,
      copy: this.#copy?.copy.progress ?? idle,
      comparison: this.#copy?.copy.comparison,
      pauseMsMax: plane.pauseMsMax,
      gracePeriodMs: plane.gracePeriodMs,
      timings,
    };
  }

  /** A side that does not answer soon must not keep the requests of the other one waiting. */
  async #answer<T>(signal: AbortSignal, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, timings } = this.#options;
    const stop = new AbortController();
    const timer = clock.after(timings.answerMsMax, () => stop.abort());
    const bounded = AbortSignal.any([signal, stop.signal]);
    try {
      return await orAborted(call(bounded), bounded);
    } finally {
      timer.cancel();
    }
  }

  async #execute(
    action: Action,
    observed: Observed & { readonly plane: MigratingPlane },
    signal: AbortSignal,
  ): Promise<NextPassMs> {
    const { tenant, dedicated, clock, timings, log } = this.#options;
    const { plane, record } = observed;
    const nowMs = clock.now();
    const write = (next: MigrationRecord) => this.#options.records.write(plane, withoutFailure(next, record), signal);
    if (action.type !== 'Wait') log.debug('migration action', { action: action.type, id: record.id });
    switch (action.type) {
      case 'Wait':
        await this.#reportProgress(observed, action, signal);
        return Math.min(action.forMs ?? timings.pollMs, timings.pollMs);
      case 'Copy':
        this.#startCopy(record);
        return 0;
      case 'Compare':
        return this.#compare(action, observed, signal);
      case 'StartAttempt':
        await write(withAttempt(record, nowMs));
        return 0;
      case 'EndAttempt': {
        this.#copy?.copy.forgetComparison();
        const { attempts = 0, attemptStartedAt } = record;
        const counted = action.isFailure && attemptStartedAt === undefined ? attempts + 1 : attempts;
        const retryMs = action.isFailure ? retryMsAfter(counted, timings) : timings.settleMs;
        const ended = withoutAttempt(record, { nowMs, message: action.message, retryMs });
        await write({ ...ended, attempts: counted });
        return 0;
      }
      case 'Hold':
        await tenant.hold(record.id, signal);
        return 0;
      case 'Release':
        await tenant.release(action.id, signal);
        return 0;
      case 'Fence':
        await this.#inSession(record, signal, (session) => session.fence());
        return 0;
      case 'Activate':
        await this.#inSession(record, signal, (session) => session.activate());
        return 0;
      case 'RecordSwitched': {
        const message = `switched to mode ${record.to} at revision ${action.revision}`;
        const objects = observed.comparison?.objects;
        const decided = { outcome: 'Switched', nowMs, revision: action.revision, message } as const;
        await write({ ...withOutcome(record, decided, timings), ...(objects === undefined ? {} : { objects }) });
        return 0;
      }
      case 'RecordAborted':
        await write(withOutcome(record, { outcome: 'Aborted', nowMs, message: action.message }, timings));
        return 0;
      case 'PassTo':
        await tenant.passTo(record.id, action.remote, signal);
        return 0;
      case 'ServeReceived':
        await tenant.serveReceived(record.id, action.revision as Revision, signal);
        return 0;
      case 'RecordServed': {
        const { attemptStartedAt, ...rest } = record;
        const pauseMs =
          attemptStartedAt === undefined ? {} : { pauseMs: Math.max(0, nowMs - timeOf(attemptStartedAt)) };
        await write({ ...rest, ...pauseMs, step: 'Registrations' });
        return 0;
      }
      case 'DeleteDedicated':
        await dedicated.delete(signal);
        return timings.pollMs;
      case 'Complete': {
        if (action.deletesTenantData) await tenant.deleteData(record.id, signal);
        const { notBefore: _, attemptStartedAt: __, ...rest } = record;
        await write({ ...rest, step: 'Decommission', completedAt: new Date(nowMs).toISOString() });
        return 0;
      }
    }
  }

  async #inSession<T>(
    { id }: MigrationRecord,
    signal: AbortSignal,
    call: (session: Awaited<ReturnType<DedicatedSide['replica']['open']>>) => Promise<T>,
  ): Promise<void> {
    await using session = await this.#options.dedicated.replica.open(id, signal);
    // An operation of etcd cannot be cancelled: it must not be sent after the end of the pass.
    if (signal.aborted) return;
    await call(session);
  }

  #startCopy(record: MigrationRecord): void {
    if (this.#copy) return;
    const { tenant, dedicated, clock, log, timings } = this.#options;
    const stop = new AbortController();
    const copy = new Copy({ record, tenant, dedicated, clock, log, timings, signal: stop.signal });
    this.#copy = { id: record.id, copy, stop };
  }

  /** Before an attempt, a comparison takes as long as it needs, beside the passes. */
  async #compare(
    action: Action & { type: 'Compare' },
    observed: Observed & { readonly plane: MigratingPlane },
    passSignal: AbortSignal,
  ): Promise<NextPassMs> {
    const { clock, timings, log } = this.#options;
    const running = this.#copy;
    if (!running || this.#comparing) return timings.pollMs / 10;
    const { attempt, revision } = action;
    const limitMs = attempt === undefined ? compareMsMax : observed.pauseMsMax;
    const stop = new AbortController();
    const timer = clock.after(limitMs, () => stop.abort());
    const signal = AbortSignal.any([running.stop.signal, stop.signal]);
    this.#comparing = orAborted(running.copy.compare(attempt, revision as Revision | undefined, signal), signal)
      .catch((error: unknown) => log.debug('failed to compare both sides', { error: asError(error) }))
      .finally(() => {
        timer.cancel();
        this.#comparing = undefined;
      });
    if (attempt !== undefined) {
      await this.#comparing;
      return 0;
    }
    await this.#reportProgress(observed, { step: 'Verify', message: 'comparing both sides' }, passSignal);
    return timings.pollMs / 10;
  }

  /** Does not change the record of an attempt: its limit of time names the failure. */
  async #reportFailure({ message }: Error, signal: AbortSignal): Promise<void> {
    const { records, clock, timings } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#failingSinceMs ??= nowMs;
    if (nowMs - this.#failingSinceMs < failureAfterPolls * timings.pollMs) return;
    this.#failingSinceMs = nowMs;
    await this.#answer(signal, async (bounded) => {
      const plane = await records.read(bounded);
      if (!plane) return;
      const { record } = plane;
      const text = `${failurePrefix}${message}`;
      if (record.message === text || (record.attemptStartedAt !== undefined && record.outcome === undefined)) return;
      await records.write(plane, { ...record, message: text }, bounded);
    }).catch(() => undefined);
  }

  /** Writes the step, the lag and the message: changes of the step at once, others rarely. */
  async #reportProgress(
    { plane, record, copy, nowMs }: Observed & { readonly plane: MigratingPlane },
    { step, message }: { readonly step: MigrationStep; readonly message: string },
    signal: AbortSignal,
  ): Promise<void> {
    // The wait for the last changes is short, and its record must not change.
    if (step === 'Switch') return;
    const lag = lagOf(copy);
    const isSame = record.step === step && record.message === message && (lag ?? record.lag) === record.lag;
    if (isSame || (record.step === step && nowMs - this.#progressMs < progressEveryMs)) return;
    this.#progressMs = nowMs;
    const next = { ...record, step, message, ...(lag === undefined ? {} : { lag }) };
    await this.#options.records.write(plane, next, signal);
  }
}
