/**
 * Usage of all tenants on this server. It is collected in memory and added to each tenant's record in the store within a minute, and when
 * the server closes; a crash loses the last minute. One timer serves all tenants, and none runs without usage. Several servers on one store
 * add to the same records.
 */

import { asError, hasCode } from '@hangar/core';
import type { Clock, Random, Timer } from '@hangar/core';
import { transactionWritesMax } from '@hangar/store';
import type { Revision, Store } from '@hangar/store';
import { tenantPrefix, usageKey } from '../layout.ts';
import { Meter } from './meter.ts';
import { Page } from './page.ts';
import type { RecentRequests } from './recent-requests.ts';
import { RecentStalls } from './recent-stalls.ts';
import { addUsage, decodeUsage } from './usage-record.ts';
import type { UsageCounters } from './usage-record.ts';

export interface UsageBookOptions {
  readonly store: Store;
  readonly storePrefix: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly onError: (error: Error) => void;
  /** Maximum time that usage is in memory only. */
  readonly flushMs?: number;
}

export interface TenantBirth {
  readonly path: string;
  /** Seed of the tenant's identity. */
  readonly seed: string;
  /** Revision of the identity's key. */
  readonly revision: Revision;
  /** Returns the current memory use of the tenant. */
  readonly memoryBytes?: () => number;
}

/** Activity of a tenant on this server, from memory alone. */
export interface TenantActivity {
  readonly path: string;
  /** Requests since the tenant was first used; reset to 0 after a long idle time. */
  readonly reads: number;
  readonly writes: number;
  readonly watches: number;
  readonly memoryBytes: number;
  /** Absent: no requests. */
  readonly recent: RecentRequests | undefined;
}

const defaultFlushMs = 60_000;
/** Each page has two conditions in the transaction. */
const pagesAtOnce = transactionWritesMax / 4;
/** An attempt fails only if another server wrote first, or a tenant was deleted. */
const attemptsMax = 100;

export class UsageBook {
  readonly #options: UsageBookOptions;
  readonly #pages = new Map<string, Page>();
  /** Only open tenants. */
  readonly #memory = new Map<Page, () => number>();
  /** Stalls that were attributed to requests of tenants, open or not. */
  readonly stalls: RecentStalls;
  #timer: Timer | undefined;
  #flushing: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: UsageBookOptions) {
    this.#options = options;
    this.stalls = new RecentStalls(options.clock);
  }

  /** Number of tenants that are open or have usage to store. */
  get size(): number {
    return this.#pages.size;
  }

  /** Opens the meter of a tenant; call `close` when the tenant is closed. */
  open({ path, seed, revision, memoryBytes }: TenantBirth): { readonly meter: Meter; close(): void } {
    const known = this.#pages.get(path);
    const page = known?.meter.seed === seed && !known.isObsolete ? known : this.#newPage({ path, seed, revision });
    page.openings++;
    if (memoryBytes) this.#memory.set(page, memoryBytes);
    return {
      meter: page.meter,
      close: () => {
        page.openings--;
        if (page.openings === 0) this.#memory.delete(page);
        this.#tidy(page);
      },
    };
  }

  /** Yields the activity of all tenants in use. The cost is proportional to their number. */
  *activities(): IterableIterator<TenantActivity> {
    for (const [path, page] of this.#pages) {
      const { meter } = page;
      const memoryBytes = this.#memory.get(page)?.() ?? 0;
      yield { path, ...meter.ever, watches: meter.watches, memoryBytes, recent: meter.recent };
    }
  }

  /** Returns the number of watches of a tenant on this server. */
  watches(path: string): number {
    return this.#pages.get(path)?.meter.watches ?? 0;
  }

  /** Returns the usage since creation: stored by all servers, plus the part of this server that is not stored yet. */
  async total(path: string, seed: string): Promise<UsageCounters> {
    const { store, storePrefix } = this.#options;
    const { entry } = await store.get(usageKey(tenantPrefix(storePrefix, path)));
    const record = decodeUsage(entry?.value);
    const page = this.#pages.get(path);
    return page?.meter.seed === seed ? addUsage(record, page.missingIn(record)) : record;
  }

  /** Stores the usage so far. Usage that cannot be written is kept for the next time. */
  async flush(): Promise<void> {
    // One flush at a time: a running one may not include everything.
    while (this.#flushing) await this.#flushing;
    this.#flushing = this.#flushAll();
    try {
      await this.#flushing;
    } finally {
      this.#flushing = undefined;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.flush();
  }

  #newPage({ path, seed, revision }: TenantBirth): Page {
    const { clock, storePrefix } = this.#options;
    const meter = new Meter({ path, seed, clock, onUsed: () => this.#flushLater() });
    const page = new Page(meter, tenantPrefix(storePrefix, path), revision);
    this.#pages.set(path, page);
    return page;
  }

  #flushLater(): void {
    if (this.#timer || this.#isClosed) return;
    const { clock, flushMs = defaultFlushMs } = this.#options;
    this.#timer = clock.after(flushMs, () => {
      void this.flush().then(() => {
        this.#timer = undefined;
        if ([...this.#pages.values()].some((page) => page.hasSomething)) this.#flushLater();
      });
    });
  }

  async #flushAll(): Promise<void> {
    const pages = [...this.#pages.values()].filter((page) => page.hasSomething);
    try {
      for (let at = 0; at < pages.length; at += pagesAtOnce) await this.#write(pages.slice(at, at + pagesAtOnce));
    } catch (error) {
      this.#options.onError(asError(error));
    }
    for (const page of pages) this.#tidy(page);
  }

  /** Writes several tenants in one transaction. Conflicting tenants are updated from the conflict, or left out. */
  async #write(given: readonly Page[]): Promise<void> {
    const { store, random } = this.#options;
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const mark = Buffer.from(random.bytes(8)).toString('hex');
      const sent = given
        .filter((page) => !page.isObsolete)
        .map((page) => ({ page, writes: page.writes(mark) }))
        .filter(({ writes }) => writes.length > 0);
      if (sent.length === 0) return;
      try {
        const result = await store.commit(sent.flatMap(({ writes }) => writes));
        if (result.committed) {
          for (const { page } of sent) page.written(result.revision);
          return;
        }
        const conflicts = new Map(result.conflicts.map(({ key, entry }) => [key, entry]));
        for (const { page } of sent) {
          page.failed(false);
          page.learn(conflicts);
        }
      } catch (error) {
        const isInDoubt = hasCode(error, 'Unavailable') || hasCode(error, 'StorageFailed');
        for (const { page } of sent) page.failed(isInDoubt);
        throw error;
      }
    }
  }

  /** Removes the page of a tenant that is closed and has nothing to add. */
  #tidy(page: Page): void {
    const isKept = page.openings > 0 ? !page.isObsolete : page.hasSomething;
    if (!isKept && this.#pages.get(page.meter.path) === page) this.#pages.delete(page.meter.path);
  }
}
