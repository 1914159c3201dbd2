/**
 * Time in leaps, as on a machine that sleeps: what was due several times meanwhile happens once. Months pass in a second, where
 * `virtualClock` would go through every minute of every watch.
 */

import type { Clock, Timer } from '@hangar/core';

/** A turn of the event loop each: enough for what follows from one timer to come to its end. */
const turnsAfterALeap = 40;

export class LeapingClock implements Clock {
  #nowMs = Date.UTC(2026, 0, 1);
  readonly #timers = new Set<{ readonly dueMs: number; readonly callback: () => void }>();

  now(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, callback: () => void): Timer {
    // Short waits are those of somebody who comes again at once.
    if (delayMs < 1000) return this.soon(callback);
    const timer = { dueMs: this.#nowMs + delayMs, callback };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  soon(callback: () => void): Timer {
    const immediate = setImmediate(callback);
    return { cancel: () => clearImmediate(immediate) };
  }

  async leap(durationMs: number): Promise<void> {
    this.#nowMs += durationMs;
    const due = [...this.#timers].filter(({ dueMs }) => dueMs <= this.#nowMs).sort((a, b) => a.dueMs - b.dueMs);
    for (const timer of due) if (this.#timers.delete(timer)) timer.callback();
    for (let turn = 0; turn < turnsAfterALeap; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}
