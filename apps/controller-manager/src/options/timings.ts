/**
 * Maps the well-known flags of leader election to the timings of the runtime's coordinator:
 *
 *   renewal sent ├─ retry-period ─┤ the next
 *                ├──────────────── renew-deadline ───────────────┤ not proven any longer: programs are killed
 *                ├───────────────────────── lease-duration ────────────────────┤ others may take the clusters
 *
 * One renewal may fail and be retried before the deadline: the timeout of each request follows from that.
 */

import { UsageError } from '@hangar/core/command-line';
import type { ShardTimings } from '@hangar/runtime/clusters';
import { durationMs } from './values.ts';

export interface TimingFlags {
  readonly 'leader-elect-lease-duration': string;
  readonly 'leader-elect-renew-deadline'?: string | undefined;
  readonly 'leader-elect-retry-period': string;
}

export type Timings = Pick<
  ShardTimings,
  'leaseMs' | 'renewEveryMs' | 'requestTimeoutMs' | 'marginMs' | 'drainTimeoutMs' | 'clockSkewMax'
>;

const clockSkewMax = 0.05;
const marginLeastMs = 500;
/** Timeout of one request for a Lease: with less, a healthy but distant server would count as dead. */
const requestLeastMs = 200;
/** Share of the lease duration for one request: 1.5 s of 7 s. */
const requestShare = 1.5 / 7;
/** Time of a stop besides its grace period: the kill, removing the folder. */
const stopOverheadMs = 3_500;
const drainLeastMs = 5_000;

const bounds = { leastMs: 100, mostMs: 3_600_000 };

/** Throws a UsageError for impossible values. `stopGraceMs`: of one program. */
export function timingsOf(values: TimingFlags, stopGraceMs: number): Timings {
  const read = (name: keyof TimingFlags): number => durationMs(name, values[name]!, bounds);
  const leaseMs = read('leader-elect-lease-duration');
  const renewEveryMs = read('leader-elect-retry-period');
  const deadlineMostMs = Math.floor(leaseMs * (1 - clockSkewMax) - marginLeastMs);
  const isGiven = values['leader-elect-renew-deadline'] !== undefined;
  const deadlineMs = isGiven ? read('leader-elect-renew-deadline') : deadlineMostMs;
  if (deadlineMs > deadlineMostMs) {
    throw new UsageError(
      `--leader-elect-renew-deadline must be at most ${deadlineMostMs}ms for a lease of ${leaseMs}ms, to allow for clock skew`,
    );
  }
  // One less: the coordinator recomputes the deadline from the margin, with rounding.
  const spareMs = Math.floor((deadlineMs - renewEveryMs) / 2) - 1;
  if (spareMs < requestLeastMs) {
    throw new UsageError(
      `--leader-elect-retry-period: ${renewEveryMs}ms leaves no time for a second attempt before the renew deadline of ${Math.max(0, deadlineMs)}ms: use a longer lease or a shorter period`,
    );
  }
  return {
    leaseMs,
    renewEveryMs,
    requestTimeoutMs: Math.min(spareMs, Math.max(requestLeastMs, Math.round(leaseMs * requestShare))),
    clockSkewMax,
    // Makes the lease invalid at the deadline.
    marginMs: leaseMs * (1 - clockSkewMax) - deadlineMs,
    drainTimeoutMs: Math.max(drainLeastMs, stopGraceMs + stopOverheadMs),
  };
}
