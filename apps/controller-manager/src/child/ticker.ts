/** One timer for as many as there are, and none for none. */

import type { Clock, Timer } from '@hangar/core';

export class Ticker {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #callbacks = new Set<() => void>();
  #timer: Timer | undefined;

  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** Calls it, which must not throw, at every tick. Returns the way to end that. */
  add(callback: () => void): () => void {
    // Its own function: the same callback may be added twice.
    const own = (): void => callback();
    this.#callbacks.add(own);
    this.#timer ??= this.#arm();
    return () => {
      this.#callbacks.delete(own);
      if (this.#callbacks.size > 0) return;
      this.#timer?.cancel();
      this.#timer = undefined;
    };
  }

  #arm(): Timer {
    return this.#clock.after(this.#everyMs, () => {
      this.#timer = this.#arm();
      for (const callback of this.#callbacks) callback();
    });
  }
}
