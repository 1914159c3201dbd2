/** Usage of one tenant on this server that is not stored yet. Counting costs one addition. */

import type { Clock } from '@hangar/core';
import { RecentRequests } from './recent-requests.ts';
import { addUsage, isNothing, noUsage } from './usage-record.ts';
import type { UsageCounters } from './usage-record.ts';

export interface MeterOptions {
  readonly path: string;
  /** Seed of the tenant's identity. Another seed is another tenant, even at the same path. */
  readonly seed: string;
  readonly clock: Clock;
  /** Called at the first use after all counts were taken. */
  readonly onUsed: () => void;
}

export class Meter {
  readonly path: string;
  readonly seed: string;
  readonly #clock: Clock;
  readonly #onUsed: () => void;
  #reads = 0;
  #writes = 0;
  #watchMs = 0;
  #watches = 0;
  /** Time up to which the current watches are counted. */
  #sinceMs = 0;
  #readsEver = 0;
  #writesEver = 0;
  #recent: RecentRequests | undefined;

  constructor({ path, seed, clock, onUsed }: MeterOptions) {
    this.path = path;
    this.seed = seed;
    this.#clock = clock;
    this.#onUsed = onUsed;
  }

  get watches(): number {
    return this.#watches;
  }

  /** Requests since this server began to count, whether stored or not. */
  get ever(): { readonly reads: number; readonly writes: number } {
    return { reads: this.#readsEver, writes: this.#writesEver };
  }

  /** Undefined: no requests yet. */
  get recent(): RecentRequests | undefined {
    return this.#recent;
  }

  /** Reports whether there are counts to take, now or later. */
  get isUsed(): boolean {
    return this.#watches > 0 || !isNothing(this.counters());
  }

  /** `durationMs`: absent for watches. */
  requested(isRead: boolean, durationMs?: number): void {
    this.#recent ??= new RecentRequests();
    this.#recent.add(this.#clock.monotonicMs(), durationMs);
    if (isRead) {
      this.#reads++;
      this.#readsEver++;
    } else {
      this.#writes++;
      this.#writesEver++;
    }
    this.#onUsed();
  }

  /** Returns a function to call once, when the watch closes. */
  watchBegan(): () => void {
    this.#settle();
    this.#watches++;
    this.#onUsed();
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      this.#settle();
      this.#watches--;
    };
  }

  counters(): UsageCounters {
    this.#settle();
    return { reads: this.#reads, writes: this.#writes, watchMs: this.#watchMs };
  }

  take(): UsageCounters {
    const taken = this.counters();
    this.#set(noUsage);
    return taken;
  }

  putBack(taken: UsageCounters): void {
    this.#set(addUsage(this.counters(), taken));
  }

  #set({ reads, writes, watchMs }: UsageCounters): void {
    this.#reads = reads;
    this.#writes = writes;
    this.#watchMs = watchMs;
  }

  #settle(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#watchMs += this.#watches * (nowMs - this.#sinceMs);
    this.#sinceMs = nowMs;
  }
}
