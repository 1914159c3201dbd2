/** A single timer that can only be moved earlier until it fires. */

import type { Clock, Timer } from '@hangar/core';

export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #timer: Timer | undefined;
  #dueMs = Infinity;

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Fires within this time. Of several calls, the earliest deadline counts. */
  within(delayMs: number): void {
    const dueMs = this.#clock.monotonicMs() + Math.max(0, delayMs);
    if (dueMs >= this.#dueMs) return;
    this.#timer?.cancel();
    this.#dueMs = dueMs;
    this.#timer = this.#clock.after(Math.max(0, delayMs), () => {
      this.#dueMs = Infinity;
      this.#timer = undefined;
      this.#ring();
    });
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#dueMs = Infinity;
  }
}
