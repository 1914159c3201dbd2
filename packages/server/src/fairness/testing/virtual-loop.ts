/**
 * An event loop with virtual time: handles requests, then `soon` callbacks, then starts the next turn. Tests set the duration of work, so
 * that shares can be checked to the microsecond.
 */

import type { Clock, Timer } from '@hangar/core';

interface Later {
  readonly dueMs: number;
  readonly callback: () => void;
}

export class VirtualLoop implements Clock {
  #nowMs = 0;
  #came: (() => void)[] = [];
  #soon: { callback: (() => void) | undefined }[] = [];
  readonly #later = new Set<Later>();

  now = (): number => Date.UTC(2026, 0, 1) + this.#nowMs;
  monotonicMs = (): number => this.#nowMs;

  after(delayMs: number, callback: () => void): Timer {
    const timer = { dueMs: this.#nowMs + delayMs, callback };
    this.#later.add(timer);
    return { cancel: () => void this.#later.delete(timer) };
  }

  soon(callback: () => void): Timer {
    const one: { callback: (() => void) | undefined } = { callback };
    this.#soon.push(one);
    return { cancel: () => void (one.callback = undefined) };
  }

  /** Adds a request for the next turn. */
  comes(callback: () => void): void {
    this.#came.push(callback);
  }

  /** Advances the time, as if the loop were busy. */
  spend(ms: number): void {
    this.#nowMs += ms;
  }

  get isIdle(): boolean {
    return this.#came.length + this.#soon.length + this.#later.size === 0;
  }

  /** Reports whether only timers are pending. */
  get isQuiet(): boolean {
    return this.#came.length + this.#soon.length === 0;
  }

  get timers(): number {
    return this.#later.size;
  }

  async turn(): Promise<void> {
    const timers = [...this.#later];
    for (const timer of timers) {
      if (timer.dueMs > this.#nowMs || !this.#later.delete(timer)) continue;
      timer.callback();
      await settled();
    }
    for (const callback of this.#came.splice(0)) {
      callback();
      await settled();
    }
    for (const { callback } of this.#soon.splice(0)) {
      callback?.();
      await settled();
    }
  }

  /** Runs turns for this long, and skips idle time. */
  async run(durationMs: number): Promise<void> {
    const endMs = this.#nowMs + durationMs;
    while (this.#nowMs < endMs) {
      await this.turn();
      if (this.#came.length + this.#soon.length > 0) continue;
      const nextMs = Math.min(endMs, ...[...this.#later].map(({ dueMs }) => dueMs));
      this.#nowMs = Math.max(this.#nowMs, nextMs);
    }
  }
}

/** Waits until the microtasks of a callback have run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
