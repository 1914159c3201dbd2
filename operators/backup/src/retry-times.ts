/**
 * The times of the next attempts. They are kept in memory, because the write of a failure to the status is an event that enqueues the same
 * object at once. After a restart of the operator, attempts are repeated immediately.
 */

import { backOffMs } from '@hangar/core';
import type { BackOff, Clock, Random } from '@hangar/core';

export interface RetryTimesOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly backOff: BackOff;
}

export class RetryTimes {
  readonly #options: RetryTimesOptions;
  readonly #retryAtMs = new Map<string, number>();

  constructor(options: RetryTimesOptions) {
    this.#options = options;
  }

  /** Returns the time until the next attempt: 0 if it is due. */
  waitMs(key: string): number {
    const waitMs = (this.#retryAtMs.get(key) ?? -Infinity) - this.#options.clock.monotonicMs();
    return Math.max(0, waitMs);
  }

  /** Plans the next attempt and returns the time until then. `failures` counts from 1. */
  failed(key: string, failures: number): number {
    const { clock, random, backOff } = this.#options;
    const delayMs = backOffMs(backOff, failures, random);
    this.#retryAtMs.set(key, clock.monotonicMs() + delayMs);
    return delayMs;
  }

  forget(key: string): void {
    this.#retryAtMs.delete(key);
  }
}
