/**
 * How long to wait after the n-th failure in a row: twice as long as before, and up to twice that again by chance, so that many who
 * lost the same server do not come back at the same time.
 */

import type { Random } from '@hangar/core';

export interface BackOffOptions {
  readonly random: Random;
  readonly firstMs?: number;
  readonly longestMs?: number;
}

export class BackOff {
  readonly #random: Random;
  readonly #firstMs: number;
  readonly #longestMs: number;
  #failures = 0;

  constructor({ random, firstMs = 800, longestMs = 30_000 }: BackOffOptions) {
    this.#random = random;
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
  }

  get failures(): number {
    return this.#failures;
  }

  /** Counts one more failure. Between the first and the longest. */
  nextMs(): number {
    const baseMs = this.#firstMs * 2 ** Math.min(this.#failures++, 30);
    return Math.min(this.#longestMs, baseMs * (1 + this.#random.fraction()));
  }

  reset(): void {
    this.#failures = 0;
  }
}
