/** The record of a migration, `status.migration`: which mode serves the control plane, and the changes of the record. Pure. */

import type { ControlPlane, ControlPlaneMode, MigrationStatus } from '../api/index.ts';
import type { MigrationTimings } from './timings.ts';

/** A record with an identity: records of operators without migrations had none. */
export type MigrationRecord = MigrationStatus & { readonly id: string };

type Plane = Pick<ControlPlane, 'spec' | 'status'>;

/** Returns the current or most recent migration. */
export function recordOf({ status }: Pick<ControlPlane, 'status'>): MigrationRecord | undefined {
  const { migration } = status ?? {};
  return migration?.id === undefined ? undefined : (migration as MigrationRecord);
}

/** Returns the migration that is not complete. */
export function activeRecord(plane: Pick<ControlPlane, 'status'>): MigrationRecord | undefined {
  const record = recordOf(plane);
  return record?.completedAt === undefined ? record : undefined;
}

/** Reports whether the new side answers requests. Later steps have no effect on users. */
export const isSwitched = ({ outcome, step }: MigrationStatus): boolean => outcome === 'Switched' && step !== 'Switch';

/** Returns the mode that serves the control plane. It differs from `spec.mode` until the switch. */
export function servingMode(plane: Plane): ControlPlaneMode {
  const record = recordOf(plane);
  if (record) return record.outcome === 'Switched' ? record.to : record.from;
  return plane.spec?.mode ?? 'Virtual';
}

export const otherMode = (mode: ControlPlaneMode): ControlPlaneMode => (mode === 'Virtual' ? 'Dedicated' : 'Virtual');

export const timeOf = (text: string | undefined): number => (text === undefined ? -Infinity : Date.parse(text));

const textOf = (ms: number): string => new Date(ms).toISOString();

/** The first attempt waits until late calls of an earlier migration have taken effect. */
export const startedRecord = (
  { id, from }: { readonly id: string; readonly from: ControlPlaneMode },
  nowMs: number,
  { settleMs }: MigrationTimings,
): MigrationRecord => ({
  id,
  from,
  to: otherMode(from),
  step: 'Provision',
  attempts: 0,
  startedAt: textOf(nowMs),
  attemptEndedAt: textOf(nowMs),
  notBefore: textOf(nowMs + settleMs),
});

export const withAttempt = (record: MigrationRecord, nowMs: number): MigrationRecord => {
  const { attemptEndedAt: _, notBefore: __, message: ___, ...rest } = record;
  return { ...rest, step: 'Switch', attempts: (record.attempts ?? 0) + 1, attemptStartedAt: textOf(nowMs) };
};

/** Ends the attempt, or extends the time in which its hold and its fence can be removed. */
export function withoutAttempt(
  record: MigrationRecord,
  { nowMs, message, retryMs }: { readonly nowMs: number; readonly message: string; readonly retryMs: number },
): MigrationRecord {
  const { attemptStartedAt: _, ...rest } = record;
  const notBefore = textOf(Math.max(nowMs + retryMs, timeOf(record.notBefore)));
  const step = record.outcome === undefined ? 'CopyAndFollow' : record.step;
  return { ...rest, ...(step === undefined ? {} : { step }), message, attemptEndedAt: textOf(nowMs), notBefore };
}

export function withOutcome(
  record: MigrationRecord,
  decided: {
    readonly outcome: 'Switched' | 'Aborted';
    readonly nowMs: number;
    readonly revision?: number;
    readonly message: string;
  },
  { settleMs }: MigrationTimings,
): MigrationRecord {
  const { outcome, nowMs, revision, message } = decided;
  const { attemptStartedAt, ...rest } = record;
  const at = textOf(nowMs);
  const notBefore = textOf(nowMs + settleMs);
  if (outcome === 'Aborted') return { ...rest, outcome, step: 'Decommission', message, attemptEndedAt: at, notBefore };
  return {
    ...rest,
    outcome,
    step: 'Switch',
    message,
    switchedAt: at,
    attemptEndedAt: at,
    notBefore,
    ...(attemptStartedAt === undefined ? {} : { attemptStartedAt }),
    ...(revision === undefined ? {} : { revision }),
    lag: 0,
  };
}

/** The back-off doubles with every attempt, and is never shorter than `settleMs`. */
export const retryMsAfter = (attempts: number, { settleMs, retryMsMax }: MigrationTimings): number =>
  Math.min(retryMsMax, settleMs * 2 ** Math.min(10, Math.max(0, attempts - 1)));

/** Delay before a migration that was aborted, and is still wanted, starts again. */
const restartMs = 60_000;

/** Returns the delay until a migration to the wanted mode may start: 0 for now, undefined if none is wanted. */
export function startDelayMs(
  {
    wanted,
    serving,
    last,
  }: {
    readonly wanted: ControlPlaneMode;
    readonly serving: ControlPlaneMode;
    readonly last: MigrationRecord | undefined;
  },
  nowMs: number,
): number | undefined {
  if (wanted === serving || (last && last.completedAt === undefined)) return undefined;
  if (last?.outcome !== 'Aborted' || last.to !== wanted) return 0;
  return Math.max(0, timeOf(last.completedAt) + restartMs - nowMs);
}
