/**
 * What all tenants use of this server. It is kept in memory and added to each tenant's record in the store within a minute,
 * and when the server is closed: a server that dies takes the figures of its last minute with it. One timer for all tenants,
 * and none when nobody used anything. Several servers on one store add to the same records.
 */

import { asError, hasCode } from '@hangar/core';
import type { Clock, Random, Timer } from '@hangar/core';
import { transactionWritesMax } from '@hangar/store';
import type { Revision, Store } from '@hangar/store';
import { tenantPrefix, usageKey } from '../layout.ts';
import { Meter } from './meter.ts';
import { Page } from './page.ts';
import { addUsage, decodeUsage } from './usage-record.ts';
import type { UsageCounters } from './usage-record.ts';

export interface UsageBookOptions {
  readonly store: Store;
  readonly storePrefix: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly onError: (error: Error) => void;
  /** How long something is in memory alone, at most. */
  readonly flushMs?: number;
}

export interface TenantBirth {
  readonly path: string;
  /** Of its identity. */
  readonly seed: string;
  /** Of its identity's key. */
  readonly revision: Revision;
  /** What is kept in memory for it now. */
  readonly memoryBytes?: () => number;
}

/** What a tenant does on this server now; everything of it is in memory. */
export interface TenantActivity {
  readonly path: string;
  /** Requests since it came into use; they begin at 0 again when it was idle for long. */
  readonly reads: number;
  readonly writes: number;
  readonly watches: number;
  readonly memoryBytes: number;
}

const defaultFlushMs = 60_000;
/** Each has two conditions in the transaction. */
const pagesAtOnce = transactionWritesMax / 4;
/** Each attempt that fails is one that another server won, or a tenant that is no more. */
const attemptsMax = 100;

export class UsageBook {
  readonly #options: UsageBookOptions;
  readonly #pages = new Map<string, Page>();
  /** Of tenants that are open. */
  readonly #memory = new Map<Page, () => number>();
  #timer: Timer | undefined;
  #flushing: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: UsageBookOptions) {
    this.#options = options;
  }

  /** Of tenants that are open, or have something to be written down. */
  get size(): number {
    return this.#pages.size;
  }

  /** For as long as the tenant is open; `close` gives it back. */
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

  /** Of all tenants that are in use. Costs no more than they are. */
  *activities(): IterableIterator<TenantActivity> {
    for (const [path, page] of this.#pages) {
      const { meter } = page;
      yield { path, ...meter.ever, watches: meter.watches, memoryBytes: this.#memory.get(page)?.() ?? 0 };
    }
  }

  /** Watches of a tenant on this server. */
  watches(path: string): number {
    return this.#pages.get(path)?.meter.watches ?? 0;
  }

  /** Since the tenant was made: what all servers have written down, and what this one has not yet. */
  async total(path: string, seed: string): Promise<UsageCounters> {
    const { store, storePrefix } = this.#options;
    const { entry } = await store.get(usageKey(tenantPrefix(storePrefix, path)));
    const record = decodeUsage(entry?.value);
    const page = this.#pages.get(path);
    return page?.meter.seed === seed ? addUsage(record, page.missingIn(record)) : record;
  }

  /** Writes down what was used so far. What cannot be written is kept for the next time. */
  async flush(): Promise<void> {
    // One at a time: what is under way may not have all of it.
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

  /** One transaction for several tenants. Who is in the way is told by the store, and taken into account or left out. */
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

  /** What is not open and has nothing to add costs nothing. */
  #tidy(page: Page): void {
    const isKept = page.openings > 0 ? !page.isObsolete : page.hasSomething;
    if (!isKept && this.#pages.get(page.meter.path) === page) this.#pages.delete(page.meter.path);
  }
}
