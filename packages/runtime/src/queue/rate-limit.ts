/**
 * The delay of a failed request, as in the default of client-go: the longer of its back-off, which doubles with every failure, and the wait
 * for a token of a bucket that the requests of **one cluster** share, so that a broken cluster cannot use up the retries of the others.
 */

import { RuntimeError } from '../errors.ts';

/** Limits of retries. */
export interface RateLimit {
  /** Delay after the first failure, which doubles with each further failure. Absent: 5 ms. */
  readonly baseMs?: number;
  /** Maximum delay. Absent: 1000 s. */
  readonly maxMs?: number;
  /** Limit of all retries of a cluster. `false`: no limit. Absent: 10 per second with a burst of 100. */
  readonly perCluster?: { readonly perSecond: number; readonly burst: number } | false;
}

const sweepMin = 64;

export class RateLimiter {
  readonly #baseMs: number;
  readonly #maxMs: number;
  readonly #intervalMs: number;
  readonly #burstMs: number;
  /**
   * A bucket as one number: the time at which it is full again. Taking a token moves that time by one interval; the bucket is empty when
   * that time is a whole burst of intervals away. Full buckets are removed.
   */
  readonly #fullAtMs = new Map<string, number>();
  #sweepAt = sweepMin;

  constructor({ baseMs = 5, maxMs = 1_000_000, perCluster = { perSecond: 10, burst: 100 } }: RateLimit = {}) {
    if (!(baseMs > 0 && maxMs >= baseMs))
      throw new RuntimeError('InvalidOptions', `invalid rate limit: baseMs ${baseMs}, maxMs ${maxMs}`);
    if (perCluster && !(perCluster.perSecond > 0 && perCluster.burst >= 1)) {
      throw new RuntimeError(
        'InvalidOptions',
        `invalid rate limit: perSecond ${perCluster.perSecond}, burst ${perCluster.burst}`,
      );
    }
    this.#baseMs = baseMs;
    this.#maxMs = maxMs;
    this.#intervalMs = perCluster ? 1_000 / perCluster.perSecond : 0;
    this.#burstMs = perCluster ? perCluster.burst * this.#intervalMs : 0;
  }

  /** Number of clusters with recent retries. */
  get bucketCount(): number {
    return this.#fullAtMs.size;
  }

  /** Takes a token of the cluster. `failures`: number of earlier failures. */
  delayMs(cluster: string, failures: number, nowMs: number): number {
    const ownMs = Math.min(this.#baseMs * 2 ** failures, this.#maxMs);
    return this.#intervalMs === 0 ? ownMs : Math.max(ownMs, this.#takeToken(cluster, nowMs));
  }

  #takeToken(cluster: string, nowMs: number): number {
    const fullAtMs = Math.max(this.#fullAtMs.get(cluster) ?? 0, nowMs) + this.#intervalMs;
    this.#fullAtMs.set(cluster, fullAtMs);
    if (this.#fullAtMs.size > this.#sweepAt) this.#sweep(nowMs);
    return Math.max(0, fullAtMs - this.#burstMs - nowMs);
  }

  /** Runs when the number of buckets has doubled since the last sweep: amortized constant cost for every token. */
  #sweep(nowMs: number): void {
    for (const [cluster, fullAtMs] of this.#fullAtMs) {
      if (fullAtMs <= nowMs) this.#fullAtMs.delete(cluster);
    }
    this.#sweepAt = Math.max(sweepMin, 2 * this.#fullAtMs.size);
  }
}
