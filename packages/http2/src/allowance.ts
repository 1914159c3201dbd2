/** How often something may happen: so many times at once, and so many more a second. */

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

  /** False: it was too often. */
  take(): boolean {
    // The time is only asked for when it might matter.
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
