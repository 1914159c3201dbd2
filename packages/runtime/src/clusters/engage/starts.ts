/**
 * Limits the number of clusters that are opened at the same time, to bound the burst of work when thousands are discovered at once. A
 * cluster that has not opened after `lendAfterMs` only waits for the network, which is cheap: it continues, and its place goes to the next.
 * Therefore places become free at a rate of `places / lendAfterMs`, regardless of how many clusters hang.
 */

import { abortError } from '@hangar/core';
import type { Clock } from '@hangar/core';

export interface StartsOptions {
  readonly clock: Clock;
  readonly places: number;
  readonly lendAfterMs: number;
}

interface Waiter {
  admit(): void;
}

export class Starts {
  readonly #options: StartsOptions;
  /** In order of arrival. */
  readonly #waiting = new Set<Waiter>();
  #free: number;

  constructor(options: StartsOptions) {
    this.#options = options;
    this.#free = options.places;
  }

  /** Waits for a free place and resolves with an idempotent function that releases it. Rejects with `Aborted`. */
  enter(signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) return Promise.reject(abortError(signal));
    if (this.#free > 0) return Promise.resolve(this.#take());
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.delete(waiter);
        reject(abortError(signal));
      };
      const waiter: Waiter = {
        admit: () => {
          signal.removeEventListener('abort', onAbort);
          resolve(this.#take());
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiter);
    });
  }

  #take(): () => void {
    this.#free--;
    let isHeld = true;
    const leave = (): void => {
      if (!isHeld) return;
      isHeld = false;
      lent.cancel();
      this.#free++;
      const [next] = this.#waiting;
      if (!next) return;
      this.#waiting.delete(next);
      next.admit();
    };
    const lent = this.#options.clock.after(this.#options.lendAfterMs, leave);
    return leave;
  }
}
