/** What one tenant uses of this server, until it is written down. Counting costs an addition. */

import type { Clock } from '@hangar/core';
import { addUsage, isNothing, noUsage } from './usage-record.ts';
import type { UsageCounters } from './usage-record.ts';

export interface MeterOptions {
  readonly path: string;
  /** Of the tenant's identity: another one is another tenant, whatever its path. */
  readonly seed: string;
  readonly clock: Clock;
  /** Told of the first use after everything was taken. */
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
  /** Since when the watches of now are not counted. */
  #sinceMs = 0;
  #readsEver = 0;
  #writesEver = 0;

  constructor({ path, seed, clock, onUsed }: MeterOptions) {
    this.path = path;
    this.seed = seed;
    this.#clock = clock;
    this.#onUsed = onUsed;
  }

  get watches(): number {
    return this.#watches;
  }

  /** Since this server began to count, written down or not: what grows while somebody looks. */
  get ever(): { readonly reads: number; readonly writes: number } {
    return { reads: this.#readsEver, writes: this.#writesEver };
  }

  /** There is something to take, or there will be. */
  get isUsed(): boolean {
    return this.#watches > 0 || !isNothing(this.counters());
  }

  requested(isRead: boolean): void {
    if (isRead) {
      this.#reads++;
      this.#readsEver++;
    } else {
      this.#writes++;
      this.#writesEver++;
    }
    this.#onUsed();
  }

  /** To be called back, once, when it ends. */
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
