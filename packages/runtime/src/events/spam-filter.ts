/**
 * Limits the events of each object as client-go does: a burst of 25, then one in five minutes. Bounded: with too many objects, the least
 * recently used one is dropped and starts with a full bucket again.
 */

import type { Clock } from '@hangar/core';

export interface SpamFilterOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly burst: number;
  readonly refillMs: number;
  readonly objectsMax: number;
}

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

export class SpamFilter {
  readonly #options: SpamFilterOptions;
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: SpamFilterOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Returns false if the limit of the object is reached. */
  take(key: string): boolean {
    const { burst, objectsMax } = this.#options;
    const bucket = this.#buckets.get(key) ?? { tokens: burst, filledAtMs: this.#options.clock.monotonicMs() };
    this.#fill(bucket);
    // Moves it to the end of the map: most recently used.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > objectsMax) this.#buckets.delete(this.#buckets.keys().next().value!);
    if (bucket.tokens < 1) return false;
    bucket.tokens--;
    return true;
  }

  /** Drops buckets that are full again. */
  sweep(): void {
    for (const [key, bucket] of this.#buckets) {
      this.#fill(bucket);
      if (bucket.tokens >= this.#options.burst) this.#buckets.delete(key);
    }
  }

  #fill(bucket: Bucket): void {
    const { clock, burst, refillMs } = this.#options;
    const nowMs = clock.monotonicMs();
    bucket.tokens = Math.min(burst, bucket.tokens + (nowMs - bucket.filledAtMs) / refillMs);
    bucket.filledAtMs = nowMs;
  }
}
