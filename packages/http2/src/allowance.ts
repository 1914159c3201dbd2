/** Rate limit: a burst, and a number of further events per second. */

import type { Clock } from '@hangar/core';

export class Allowance {
  readonly #clock: Clock;
  readonly #burst: number;
  readonly #perSecond: number;
  #left: number;
  #sinceMs: number;

  constructor(clock: Clock, burst: number, perSecond: number) {
    this.#clock = clock;
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#left = burst;
    this.#sinceMs = clock.monotonicMs();
  }

  /** Returns false if the limit is exceeded. */
  take(): boolean {
    // The clock is only read if it matters.
    if (this.#left < 1) {
      const nowMs = this.#clock.monotonicMs();
      this.#left = Math.min(this.#burst, this.#left + ((nowMs - this.#sinceMs) / 1_000) * this.#perSecond);
      this.#sinceMs = nowMs;
      if (this.#left < 1) return false;
    }
    this.#left--;
    return true;
  }
}
