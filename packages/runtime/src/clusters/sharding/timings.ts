/**
 * How long everything takes, and the one inequality that safety rests on: a peer stops to believe in its own lease before anybody
 * else may.
 *
 *     peer       sent ├───────────── validityMs ────────────┤ fenced       on its own clock, from before the request was sent
 *     others          · seen ├────────────────── leaseMs ───────────────┤ may be declared dead      on theirs, from when they saw it
 *
 * `seen` is never before `sent`; the clocks' rates differ by at most `clockSkewMax`; what is left between the two ends is at least
 * `marginMs`, for the requests that were on the wire when the first end came.
 */

import { RuntimeError } from '../../errors.ts';

export interface ShardTimings {
  /** Between two renewals. Writes a second of a whole group: peers / renewEveryMs. */
  readonly renewEveryMs: number;
  /** Without a sign of life for so long, a peer may be declared dead. */
  readonly leaseMs: number;
  /** By how much the rates of two peers' clocks may differ: 0.05 is 5 %, far more than any clock that ticks. */
  readonly clockSkewMax: number;
  readonly marginMs: number;
  /** Of one request for leases. */
  readonly requestTimeoutMs: number;
  /** Peers that start at about the same time join together. */
  readonly joinDelayMs: number;
  /** How long a cluster that is given up may take to come to rest; after it others may have it, and what is still under way here cannot write. */
  readonly drainTimeoutMs: number;
  /** What comes to rest within this time is told by one write. */
  readonly ackBatchMs: number;
  /** Static shards: a cluster whose labels made it ours is waited with, until its former shard has seen that, too. */
  readonly labelSettleMs: number;
  /** A cluster that nobody confirms to have for so long is unowned. */
  readonly unownedAfterMs: number;
}

export const defaultTimings: ShardTimings = {
  renewEveryMs: 3_000,
  leaseMs: 10_000,
  clockSkewMax: 0.05,
  marginMs: 500,
  requestTimeoutMs: 2_000,
  joinDelayMs: 150,
  drainTimeoutMs: 30_000,
  ackBatchMs: 100,
  labelSettleMs: 5_000,
  unownedAfterMs: 30_000,
};

/** How long a renewal is believed in by the peer that sent it. */
export const validityMs = ({ leaseMs, clockSkewMax, marginMs }: ShardTimings): number =>
  leaseMs * (1 - clockSkewMax) - marginMs;

/** Throws `InvalidOptions` for those that cannot work. */
export function timingsOf(given: Partial<ShardTimings> = {}): ShardTimings {
  const timings = { ...defaultTimings, ...given };
  for (const [name, value] of Object.entries(timings)) {
    if (!Number.isFinite(value) || value < 0)
      throw new RuntimeError('InvalidOptions', `${name} must be a non-negative number, not ${value}`);
  }
  // A renewal that fails or hangs once must leave time for the next one.
  if (validityMs(timings) < timings.renewEveryMs + 2 * timings.requestTimeoutMs) {
    throw new RuntimeError(
      'InvalidOptions',
      'leaseMs is too short: it must leave time to retry a failed renewal (at least renewEveryMs + 2 × requestTimeoutMs, plus margin and clock skew)',
    );
  }
  return timings;
}
