/**
 * Stalls of the event loop in the last hour by the tenant whose request caused them. The number of tenants and the memory of each are
 * bounded. No timer runs: entries are removed when others are added.
 */

import type { Clock } from '@hangar/core';

const windowMs = 3_600_000;
const tenantsMax = 1_000;
/** Stalls of one tenant that are kept. */
const stallsMax = 100;

export class RecentStalls {
  readonly #clock: Clock;
  /** Times of stalls, oldest first; tenants in the order of their last stall. */
  readonly #times = new Map<string, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(path: string): void {
    const nowMs = this.#clock.monotonicMs();
    const times = this.#times.get(path) ?? [];
    times.push(nowMs);
    if (times.length > stallsMax) times.shift();
    this.#times.delete(path);
    this.#times.set(path, times);
    for (const [oldest, { length, [length - 1]: last }] of this.#times) {
      if (this.#times.size <= tenantsMax && nowMs - last! < windowMs) break;
      this.#times.delete(oldest);
    }
  }

  /** At most 100. */
  count(path: string): number {
    const sinceMs = this.#clock.monotonicMs() - windowMs;
    return this.#times.get(path)?.filter((atMs) => atMs > sinceMs).length ?? 0;
  }

  forget(path: string): void {
    this.#times.delete(path);
  }
}
