/** So many a second, with a second's worth at once. Counted on the clock, without a timer. */

import type { Clock } from '@hangar/core';

export class Rate {
  readonly #clock: Clock;
  #left: number | undefined;
  #atMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** False: beyond `perSecond`, which may be another one than last time. */
  take(perSecond: number): boolean {
    if (perSecond <= 0) return false;
    const nowMs = this.#clock.monotonicMs();
    const atOnceMax = Math.max(1, perSecond);
    const left = this.#left === undefined ? atOnceMax : this.#left + ((nowMs - this.#atMs) / 1_000) * perSecond;
    this.#left = Math.min(atOnceMax, left);
    this.#atMs = nowMs;
    // What comes in a thousand small pieces is as much as what comes at once.
    if (this.#left < 1 - 1e-9) return false;
    this.#left--;
    return true;
  }
}
