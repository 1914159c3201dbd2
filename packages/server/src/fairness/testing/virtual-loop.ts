/**
 * An event loop with virtual time: what came is handled, then what was asked for `soon`, then it turns again. Work takes as
 * long as a test says, so that what is shared out can be counted to the microsecond.
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

  /** Somebody's request, seen with the next turn. */
  comes(callback: () => void): void {
    this.#came.push(callback);
  }

  /** The loop is busy. */
  spend(ms: number): void {
    this.#nowMs += ms;
  }

  get isIdle(): boolean {
    return this.#came.length + this.#soon.length + this.#later.size === 0;
  }

  /** Nothing but time makes anything happen. */
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

  /** Turns until so much time has passed, asleep where there is nothing to do. */
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

/** What follows from a callback without waiting for anything. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
