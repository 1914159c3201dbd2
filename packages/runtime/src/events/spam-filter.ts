/**
 * How much may be said about one object: client-go's measure, 25 at once and then one in five minutes. Bounded: of too many
 * objects the one that was not spoken of for longest is forgotten, and may be spoken of anew.
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

  /** False: enough was said about it. */
  take(key: string): boolean {
    const { burst, objectsMax } = this.#options;
    const bucket = this.#buckets.get(key) ?? { tokens: burst, filledAtMs: this.#options.clock.monotonicMs() };
    this.#fill(bucket);
    // Last in the map: used last.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > objectsMax) this.#buckets.delete(this.#buckets.keys().next().value!);
    if (bucket.tokens < 1) return false;
    bucket.tokens--;
    return true;
  }

  /** Forgets those of which nothing was said for so long that it makes no difference. */
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
