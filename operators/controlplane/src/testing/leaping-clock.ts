/**
 * A clock that advances in leaps, as on a machine that sleeps: a timer that was due several times fires once. Months pass in a second,
 * where `virtualClock` would go through every minute of every watch.
 */

import type { Clock, Timer } from '@hangar/core';

/** Turns of the event loop: enough for all consequences of one timer. */
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
    // Short delays are immediate retries.
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
