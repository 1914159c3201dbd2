/**
 * The clock of the system from a fixed start, which a test can set forward: timers that are due then fire at once. Unlike a virtual clock
 * it can be used with files and sockets.
 */

import { systemClock } from '@hangar/core';
import type { Clock, Timer } from '@hangar/core';

export class JumpingClock implements Clock {
  #aheadMs: number;
  readonly #timers = new Set<{ readonly dueMs: number; fire(): void }>();

  constructor(startMs = Date.UTC(2026, 0, 1, 0, 0, 1)) {
    this.#aheadMs = startMs - systemClock.now();
  }

  now = (): number => systemClock.now() + this.#aheadMs;
  monotonicMs = (): number => systemClock.monotonicMs() + this.#aheadMs;
  soon: Clock['soon'] = (callback) => systemClock.soon(callback);

  after: Clock['after'] = (delayMs, callback) => {
    const fire = (): void => {
      cancel();
      callback();
    };
    const entry = { dueMs: this.monotonicMs() + delayMs, fire };
    const timer: Timer = systemClock.after(delayMs, fire);
    const cancel = (): void => {
      timer.cancel();
      this.#timers.delete(entry);
    };
    this.#timers.add(entry);
    return { cancel };
  };

  /**
   * The time of this clock with timers that do not fire early, for servers and informers. Otherwise each jump ends all watches, and informers
   * wait for a second before they watch again.
   */
  readonly forWatches: Clock = {
    now: () => this.now(),
    monotonicMs: () => systemClock.monotonicMs(),
    soon: (callback) => systemClock.soon(callback),
    after: (delayMs, callback) => systemClock.after(delayMs, callback),
  };

  /** Sets the clock forward. */
  jump(durationMs: number): void {
    this.#aheadMs += durationMs;
    const due = [...this.#timers].filter(({ dueMs }) => dueMs <= this.monotonicMs());
    for (const { fire } of due.sort((a, b) => a.dueMs - b.dueMs)) fire();
  }
}
