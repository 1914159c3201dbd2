/**
 * Deadlines with the same duration for all items, on one timer: the oldest is always due first, so that neither adding nor removing sets a
 * timer.
 */

import type { Clock, Timer } from '@hangar/core';

export class Deadlines<T> {
  readonly #clock: Clock;
  readonly #afterMs: number;
  readonly #onDue: (element: T) => void;
  /** In order of insertion. */
  readonly #dueMs = new Map<T, number>();
  #timer: Timer | undefined;

  constructor(clock: Clock, afterMs: number, onDue: (element: T) => void) {
    this.#clock = clock;
    this.#afterMs = afterMs;
    this.#onDue = onDue;
  }

  add(element: T): void {
    this.#dueMs.set(element, this.#clock.monotonicMs() + this.#afterMs);
    this.#timer ??= this.#clock.after(this.#afterMs, () => this.#fire());
  }

  delete(element: T): void {
    this.#dueMs.delete(element);
  }

  /** Removes all deadlines. */
  stop(): void {
    this.#dueMs.clear();
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #fire(): void {
    this.#timer = undefined;
    const nowMs = this.#clock.monotonicMs();
    for (const [element, dueMs] of this.#dueMs) {
      if (dueMs > nowMs) {
        this.#timer ??= this.#clock.after(dueMs - nowMs, () => this.#fire());
        return;
      }
      this.#dueMs.delete(element);
      this.#onDue(element);
    }
  }
}
