/** Yields to other requests between policies, which may be expensive together. */

import { breathe } from '@hangar/core';
import type { Clock } from '@hangar/core';

const turnMs = 10;

export class Turns {
  readonly #clock: Clock;
  #began: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#began = clock.monotonicMs();
  }

  async next(): Promise<void> {
    if (this.#clock.monotonicMs() - this.#began < turnMs) return;
    await breathe(this.#clock);
    this.#began = this.#clock.monotonicMs();
  }
}
