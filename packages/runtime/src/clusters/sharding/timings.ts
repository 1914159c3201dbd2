/**
 * All durations, and the one inequality that safety depends on: the lease of a peer expires for the peer before it expires for any other
 * peer.
 *
 *     peer       sent ├───────────── validityMs ────────────┤ fenced       on its own clock, from before the request was sent
 *     others          · seen ├────────────────── leaseMs ───────────────┤ may be declared dead      on theirs, from when they saw it
 *
 * `seen` is never before `sent`; the rates of the clocks differ by at most `clockSkewMax`; the time between the two ends is at least
 * `marginMs`, for requests that were in flight at the first end.
 */

import { RuntimeError } from '../../errors.ts';

export interface ShardTimings {
  /** Time between two renewals. The group causes peers / renewEveryMs writes. */
  readonly renewEveryMs: number;
  /** Time without a renewal after which a peer can be declared dead. */
  readonly leaseMs: number;
  /** Maximum relative difference of the rates of two clocks: 0.05 is 5 %. */
  readonly clockSkewMax: number;
  readonly marginMs: number;
  /** Timeout of one lease request. */
  readonly requestTimeoutMs: number;
  /** Delay of a join, so that peers that start together join together. */
  readonly joinDelayMs: number;
  /** Maximum time for a released cluster to drain; then other processes may acquire it, and writes of this process are fenced. */
  readonly drainTimeoutMs: number;
  /** Time for which acknowledgements of drained clusters are batched into one write. */
  readonly ackBatchMs: number;
  /** Static shards: delay before a cluster is acquired because of a label change, so that the former shard observes the change as well. */
  readonly labelSettleMs: number;
  /** Time without a confirmed owner after which a cluster is reported as unowned. */
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

/** Time for which a renewal is valid for the peer that sent it. */
export const validityMs = ({ leaseMs, clockSkewMax, marginMs }: ShardTimings): number =>
  leaseMs * (1 - clockSkewMax) - marginMs;

/** Throws `InvalidOptions` for inconsistent timings. */
export function timingsOf(given: Partial<ShardTimings> = {}): ShardTimings {
  const timings = { ...defaultTimings, ...given };
  for (const [name, value] of Object.entries(timings)) {
    if (!Number.isFinite(value) || value < 0)
      throw new RuntimeError('InvalidOptions', `${name} must be a non-negative number, not ${value}`);
  }
  // One failed or hanging renewal must leave time for the next one.
  if (validityMs(timings) < timings.renewEveryMs + 2 * timings.requestTimeoutMs) {
    throw new RuntimeError(
      'InvalidOptions',
      'leaseMs is too short: it must leave time to retry a failed renewal (at least renewEveryMs + 2 × requestTimeoutMs, plus margin and clock skew)',
    );
  }
  return timings;
}
