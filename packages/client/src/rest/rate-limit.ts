/** Limits requests with a burst and a rate, in FIFO order. */

import { sleep } from '@hangar/core';
import type { Clock } from '@hangar/core';

export class RateLimit {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #burst: number;
  /** Available tokens. Below 0: number of waiters. */
  #left: number;
  #sinceMs: number;

  constructor(clock: Clock, { perSecond, burst }: { readonly perSecond: number; readonly burst: number }) {
    this.#clock = clock;
    this.#perMs = perSecond / 1_000;
    this.#burst = Math.max(1, burst);
    this.#left = this.#burst;
    this.#sinceMs = clock.monotonicMs();
  }

  /** Returns undefined if the request may start. An aborted waiter releases its place to those behind. */
  enter(signal: AbortSignal | undefined): Promise<void> | undefined {
    const nowMs = this.#clock.monotonicMs();
    this.#left = Math.min(this.#burst, this.#left + (nowMs - this.#sinceMs) * this.#perMs);
    this.#sinceMs = nowMs;
    this.#left--;
    if (this.#left >= 0) return undefined;
    return sleep(this.#clock, -this.#left / this.#perMs, signal).catch((error: unknown) => {
      this.#left++;
      throw error;
    });
  }
}
