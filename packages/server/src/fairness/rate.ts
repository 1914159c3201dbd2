/** Token bucket that holds the tokens of one second. Computed from the clock, without a timer. */

import type { Clock } from '@hangar/core';

export class Rate {
  readonly #clock: Clock;
  #left: number | undefined;
  #atMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns false if the rate exceeds `perSecond`, which may change between calls. */
  take(perSecond: number): boolean {
    if (perSecond <= 0) return false;
    const nowMs = this.#clock.monotonicMs();
    const atOnceMax = Math.max(1, perSecond);
    const left = this.#left === undefined ? atOnceMax : this.#left + ((nowMs - this.#atMs) / 1_000) * perSecond;
    this.#left = Math.min(atOnceMax, left);
    this.#atMs = nowMs;
    // Tolerance for rounding errors when tokens accrue in many small amounts.
    if (this.#left < 1 - 1e-9) return false;
    this.#left--;
    return true;
  }
}
