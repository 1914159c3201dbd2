/**
 * Decides the next action of a migration, from its record and the state of both sides. Pure. The record is the only decision: while it has no
 * outcome, the old side serves the control plane, and every action can be undone; after the outcome is recorded, every action is repeated
 * until it succeeds.
 *
 *     Virtual → Dedicated   copy ─ verify ─ attempt: hold ─ last changes ─ compare ─ record Switched ─ activate ─ pass to
 *     Dedicated → Virtual   copy ─ verify ─ attempt: hold ─ fence ─ last changes ─ compare ─ record Switched ─ serve received
 *
 * An attempt has a time limit. After it, the record is changed first; then the hold and the fence are removed. They are removed only within
 * `passMsMax` after that change, so that a late removal cannot affect the next attempt (`timings.ts`).
 */

import type { ControlPlaneMode, MigrationStep } from '../api/index.ts';
import type { DedicatedReplicaState, RemoteApiServer, TenantReplicaState } from './contract.ts';
import { timeOf } from './record.ts';
import type { MigrationRecord } from './record.ts';
import type { MigrationTimings } from './timings.ts';

/** Progress of the copy in this process. A new process starts without it. */
export interface CopyProgress {
  readonly isRunning: boolean;
  /** Revision that the new side has reached. */
  readonly position?: number | undefined;
  /** Revision of the old side, as last reported. */
  readonly sourceRevision?: number | undefined;
  readonly error?: string | undefined;
  /** The changes that the new side needs no longer exist: the copy has to start again from a snapshot. */
  readonly isLost?: boolean | undefined;
}

/** Result of the last comparison of both sides in this process. */
export interface Comparison {
  /** The attempt that it belongs to. Undefined: made before an attempt. */
  readonly attempt: number | undefined;
  readonly revision: number;
  readonly isEqual: boolean;
  readonly objects: number;
  readonly tookMs: number;
  /** Number of consecutive comparisons with differences. */
  readonly failures: number;
}

/** A side that did not answer. */
export interface UnknownState {
  readonly phase: 'Unknown';
  readonly message: string;
}

export interface Observed {
  readonly nowMs: number;
  /** `spec.mode`. */
  readonly wanted: ControlPlaneMode;
  readonly record: MigrationRecord;
  readonly tenant: TenantReplicaState | UnknownState;
  readonly dedicated: DedicatedReplicaState | UnknownState;
  /** Whether the HostedControlPlane exists. Undefined: not known. */
  readonly isDedicatedThere: boolean | undefined;
  readonly copy: CopyProgress;
  readonly comparison?: Comparison | undefined;
  readonly pauseMsMax: number;
  readonly gracePeriodMs: number;
  readonly timings: MigrationTimings;
}

export type Action =
  | { readonly type: 'Wait'; readonly step: MigrationStep; readonly message: string; readonly forMs?: number }
  /** Starts the copy beside the reconciler. */
  | { readonly type: 'Copy' }
  | { readonly type: 'Compare'; readonly attempt: number | undefined; readonly revision?: number }
  | { readonly type: 'StartAttempt' }
  /** `isFailure`: with the back-off of failed attempts. */
  | { readonly type: 'EndAttempt'; readonly message: string; readonly isFailure: boolean }
  | { readonly type: 'Hold' }
  | { readonly type: 'Release'; readonly id: string }
  | { readonly type: 'Fence' }
  /** Removes the fence of the dedicated side: before the switch to undo it, after the switch to make the side writable. */
  | { readonly type: 'Activate' }
  | { readonly type: 'RecordSwitched'; readonly revision: number }
  | { readonly type: 'RecordAborted'; readonly message: string }
  | { readonly type: 'PassTo'; readonly remote: RemoteApiServer }
  | { readonly type: 'ServeReceived'; readonly revision: number }
  | { readonly type: 'RecordServed' }
  | { readonly type: 'DeleteDedicated' }
  | { readonly type: 'Complete'; readonly deletesTenantData: boolean };

export function nextAction(observed: Observed): Action {
  const { record } = observed;
  if (record.outcome === 'Switched') return afterSwitch(observed);
  if (record.outcome === 'Aborted') return afterAbort(observed);
  if (observed.wanted === record.from) {
    return { type: 'RecordAborted', message: `spec.mode was set back to ${record.from} before the switch` };
  }
  const fatal = fatalReason(observed);
  if (fatal !== undefined)
    return { type: 'RecordAborted', message: `${fatal}: the migration starts again with a new copy` };
  return record.attemptStartedAt === undefined ? beforeAttempt(observed) : duringAttempt(observed);
}

const comparisonsMax = 3;

/** Returns why the copy cannot be completed, ever. */
function fatalReason({ copy, comparison }: Observed): string | undefined {
  if (copy.isLost) return copy.error ?? 'the changes since the last copied revision no longer exist';
  if (comparison && comparison.failures >= comparisonsMax)
    return `the two sides differ at revision ${comparison.revision}`;
  return undefined;
}

function beforeAttempt(observed: Observed): Action {
  const { nowMs, record, tenant, dedicated, copy, comparison, timings } = observed;
  const undo = undoAttempt(observed);
  if (undo) return undo;
  if (!copy.isRunning) return { type: 'Copy' };
  if ('phase' in tenant || dedicated.phase === 'Unknown') return unknown(observed);
  const isSeeded = dedicated.remote !== undefined && (dedicated.phase === 'Fenced' || dedicated.phase === 'Active');
  if (!isSeeded) return wait('Provision', copy.error ?? dedicated.message, timings.pollMs);
  if (record.to === 'Virtual' && tenant.serving === 'Local') {
    return wait(
      'Provision',
      'the tenant serves its own data: this migration cannot continue, set spec.mode back',
      timings.pollMs,
    );
  }
  const lag = lagOf(copy);
  if (lag === undefined || lag > timings.lagMax) {
    const behind = lag === undefined ? 'copying the data' : `the new side is ${lag} revisions behind`;
    return wait('CopyAndFollow', copy.error === undefined ? behind : `${behind}: ${copy.error}`, timings.pollMs);
  }
  if (nowMs < timeOf(record.notBefore)) {
    const message = record.message ?? 'waiting for earlier calls to take effect';
    return wait('CopyAndFollow', message, timeOf(record.notBefore) - nowMs);
  }
  // Comparisons with differences are repeated after a back-off.
  if (comparison === undefined) return { type: 'Compare', attempt: undefined };
  if (!comparison.isEqual) return endAttempt(`the two sides differ at revision ${comparison.revision}`);
  return { type: 'StartAttempt' };
}

function duringAttempt(observed: Observed): Action {
  const { nowMs, record, tenant, dedicated, copy, comparison, pauseMsMax } = observed;
  const attempt = record.attempts ?? 0;
  if (nowMs - timeOf(record.attemptStartedAt) >= pauseMsMax) {
    return endAttempt(`the switch took longer than ${pauseMsMax} ms, and was undone`);
  }
  if ('phase' in tenant || dedicated.phase === 'Unknown') return wait('Switch', 'one side does not answer', shortMs);
  if (!copy.isRunning) return { type: 'Copy' };
  if (tenant.heldBy === undefined) return { type: 'Hold' };
  if (tenant.heldBy !== record.id) return endAttempt(`the tenant is held by another migration "${tenant.heldBy}"`);
  const isBack = record.to === 'Virtual';
  if (isBack && dedicated.phase === 'Active') return { type: 'Fence' };
  if (dedicated.phase !== 'Fenced') return endAttempt(`the dedicated side is ${dedicated.phase}: ${dedicated.message}`);
  if (!isBack && dedicated.remote === undefined) return endAttempt(`no API server answers: ${dedicated.message}`);
  const last = isBack ? dedicated.revision : tenant.heldAt;
  const reached = isBack ? tenant.received?.revision : dedicated.revision;
  if (last === undefined || reached === undefined || reached < last) {
    return wait('Switch', 'copying the last changes', shortMs);
  }
  // A comparison that takes too long for a pause was made before the attempt, and every later change was applied at its own revision.
  const isLong = comparison !== undefined && comparison.attempt === undefined && comparison.tookMs > pauseMsMax / 20;
  if (!isLong) {
    if (comparison?.attempt !== attempt) return { type: 'Compare', attempt, revision: last };
    if (!comparison.isEqual) return endAttempt(`the two sides differ at revision ${comparison.revision}`);
  }
  // In the way back, the received revision can be higher: expired leases are deleted behind the fence, too.
  return { type: 'RecordSwitched', revision: isBack ? reached : last };
}

/** Removes the hold and the fence of an attempt that has ended. */
function undoAttempt(observed: Observed): Action | undefined {
  const { nowMs, record, tenant, dedicated, timings } = observed;
  const isBack = record.to === 'Virtual';
  if ('phase' in tenant || (isBack && dedicated.phase === 'Unknown')) return unknown(observed);
  const isFenced = isBack && dedicated.phase === 'Fenced';
  if (!isFenced && tenant.heldBy === undefined) return undefined;
  if (nowMs - timeOf(record.attemptEndedAt) >= timings.passMsMax) {
    return { type: 'EndAttempt', message: record.message ?? 'an attempt to switch was undone', isFailure: false };
  }
  return isFenced ? { type: 'Activate' } : { type: 'Release', id: tenant.heldBy! };
}

function afterSwitch(observed: Observed): Action {
  if ('phase' in observed.tenant || observed.dedicated.phase === 'Unknown') return unknown(observed);
  const { nowMs, record, wanted, dedicated, gracePeriodMs, timings } = observed;
  const isDedicated = record.to === 'Dedicated';
  const serving = isDedicated ? servesDedicated(observed) : servesVirtual(observed);
  if (serving) return serving;
  if (record.step === 'Switch') return { type: 'RecordServed' };
  // A mode that was set back starts the migration in the other direction: it need not wait for the grace period.
  const graceEndsMs = wanted === record.to ? timeOf(record.switchedAt) + gracePeriodMs : -Infinity;
  const endsMs = Math.max(graceEndsMs, timeOf(record.notBefore));
  if (nowMs < endsMs) return wait('Decommission', 'the old data is kept during the grace period', endsMs - nowMs);
  if (!isDedicated) return withoutDedicated(observed);
  return dedicated.phase === 'Active' ? complete(true) : wait('Decommission', dedicated.message, timings.pollMs);
}

function servesDedicated({ record, tenant, dedicated, timings }: Observed): Action | undefined {
  if ('phase' in tenant || dedicated.phase === 'Unknown') return undefined;
  if (dedicated.phase === 'Fenced') return { type: 'Activate' };
  if (tenant.serving === 'Remote') return strayHold(tenant);
  if (tenant.heldBy !== record.id) return { type: 'Hold' };
  const { remote } = dedicated;
  return remote === undefined ? wait('Switch', dedicated.message, timings.pollMs) : { type: 'PassTo', remote };
}

function servesVirtual({ record, tenant, dedicated }: Observed): Action | undefined {
  if ('phase' in tenant) return undefined;
  if (dedicated.phase === 'Active') return { type: 'Fence' };
  if (tenant.serving === 'Local') return strayHold(tenant);
  if (tenant.heldBy !== record.id) return { type: 'Hold' };
  return { type: 'ServeReceived', revision: record.revision ?? 0 };
}

/** A hold that took effect late. The tenant has switched, so its end is safe. */
const strayHold = ({ heldBy }: TenantReplicaState): Action | undefined =>
  heldBy === undefined ? undefined : { type: 'Release', id: heldBy };

function afterAbort(observed: Observed): Action {
  const { nowMs, record, tenant } = observed;
  const undo = undoAttempt(observed);
  if (undo) return undo;
  const leftNow = timeOf(record.notBefore) - nowMs;
  if (leftNow > 0) return wait('Decommission', 'waiting for earlier calls to take effect', leftNow);
  if (record.to === 'Dedicated') return withoutDedicated(observed);
  return complete('received' in tenant && tenant.received !== undefined);
}

/** Deletes the HostedControlPlane, then completes. */
function withoutDedicated(observed: Observed): Action {
  if (observed.isDedicatedThere === undefined) return unknown(observed);
  return observed.isDedicatedThere ? { type: 'DeleteDedicated' } : complete(false);
}

/** Between two passes of an attempt. */
const shortMs = 10;

function unknown({ record, tenant, dedicated, timings }: Observed): Action {
  const message = 'phase' in tenant ? tenant.message : dedicated.message;
  return wait(record.step ?? 'Provision', `one side does not answer: ${message}`, timings.pollMs);
}

export function lagOf({ position, sourceRevision }: CopyProgress): number | undefined {
  return position === undefined || sourceRevision === undefined ? undefined : Math.max(0, sourceRevision - position);
}

const wait = (step: MigrationStep, message: string, forMs?: number): Action => ({
  type: 'Wait',
  step,
  message,
  ...(forMs === undefined ? {} : { forMs }),
});

const endAttempt = (message: string): Action => ({ type: 'EndAttempt', message, isFailure: true });
const complete = (deletesTenantData: boolean): Action => ({ type: 'Complete', deletesTenantData });
