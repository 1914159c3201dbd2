/**
 * Virtual time. Every timer of a simulated world is here; `run` lets all promises settle, then jumps to the next timer. Timers due at the
 * same instant fire in an order drawn from the seed, so that one seed is one interleaving and a thousand seeds are a thousand.
 *
 * The rule that makes it deterministic: code under simulation awaits only promises that other simulated code or these timers settle.
 */

import { assert } from '../assert.ts';
import type { Clock, Timer } from '../clock.ts';
import type { Random } from '../random.ts';

interface Scheduled {
  dueMs: number;
  order: number;
  callback: () => void;
}

export class Scheduler implements Clock {
  #nowMs = 0;
  readonly #epochMs: number;
  readonly #random: Random;
  readonly #timers = new Set<Scheduled>();

  constructor(random: Random, epochMs = Date.UTC(2026, 0, 1)) {
    this.#random = random;
    this.#epochMs = epochMs;
  }

  now(): number {
    return this.#epochMs + Math.floor(this.#nowMs);
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, callback: () => void): Timer {
    assert(delayMs >= 0, `delay ${delayMs}`);
    const timer: Scheduled = { dueMs: this.#nowMs + delayMs, order: this.#random.fraction(), callback };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  soon(callback: () => void): Timer {
    return this.after(0, callback);
  }

  /** Runs the world until `done` settles; an assertion fails if nothing is left that could settle it. */
  async run<T>(done: Promise<T>): Promise<T> {
    const world = { settled: false };
    const watched = done.finally(() => (world.settled = true));
    watched.catch(() => {}); // reported by the return below
    for (;;) {
      await letPromisesSettle();
      if (world.settled) return watched;
      this.#step();
    }
  }

  /** Advances virtual time by `durationMs`, and fires the due timers. */
  async advance(durationMs: number): Promise<void> {
    const endMs = this.#nowMs + durationMs;
    for (;;) {
      await letPromisesSettle();
      const next = this.#next();
      if (!next || next.dueMs > endMs) break;
      this.#fire(next);
    }
    // Another task may have moved it further meanwhile.
    this.#nowMs = Math.max(this.#nowMs, endMs);
  }

  #step(): void {
    const next = this.#next();
    assert(next, 'deadlock: the simulated world waits for something that no timer will bring');
    this.#fire(next);
  }

  #next(): Scheduled | undefined {
    let next: Scheduled | undefined;
    for (const timer of this.#timers) {
      if (!next || timer.dueMs < next.dueMs || (timer.dueMs === next.dueMs && timer.order < next.order)) next = timer;
    }
    return next;
  }

  #fire(timer: Scheduled): void {
    this.#timers.delete(timer);
    this.#nowMs = Math.max(this.#nowMs, timer.dueMs);
    timer.callback();
  }
}

/** Waits for a turn of the real event loop: every chain of already settled promises completes before it. */
function letPromisesSettle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
