/**
 * Current usage of a tenant: counted once, then updated from the watch of its range, which includes writes by other servers on the same
 * store and expired leases. Memory use is constant: a few numbers.
 *
 * Values that are encrypted at rest count with their stored size in the initial count, and with their plain size when they change: a
 * difference of a few bytes each.
 */

import { hasCode, sleep } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { Revision, Store, StoreEvent, Watch } from '@hangar/store';
import { addObject, countAll, entryBytes, noAmounts } from '../usage/counted.ts';
import type { Amounts, Counted } from '../usage/counted.ts';

export interface LedgerOptions {
  /** Contains the whole range of the tenant, as stored. */
  readonly store: Store;
  readonly clock: Clock;
  /** Prefix of the tenant. */
  readonly prefix: string;
  readonly counted: Counted;
}

const retryMs = 1_000;

export class Ledger {
  readonly #options: LedgerOptions;
  #used: Amounts = noAmounts();
  #revision = 0 as Revision;
  #watch: Watch | undefined;
  /** In the order of their revisions. */
  readonly #waiting: { readonly revision: Revision; readonly resolve: () => void }[] = [];
  #isClosed = false;

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  get used(): Amounts {
    return this.#used;
  }

  /** Resolves when all stored entries are counted. */
  async start(): Promise<void> {
    await this.#count();
    void this.#follow();
  }

  close(): void {
    this.#isClosed = true;
    this.#watch?.close();
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when all writes until now are counted, including those of other servers. */
  async caughtUp(): Promise<void> {
    const reached = this.reached(await this.#options.store.revision());
    this.#watch?.requestProgress();
    return reached;
  }

  /** Resolves when the writes up to this revision are counted, or when the ledger is closed. */
  reached(revision: Revision): Promise<void> {
    if (this.#revision >= revision || this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const after = this.#waiting.findLastIndex((one) => one.revision <= revision) + 1;
      this.#waiting.splice(after, 0, { revision, resolve });
    });
  }

  async #count(): Promise<void> {
    const { store, prefix, counted } = this.#options;
    const { revision, ...used } = await countAll(this.#options, counted);
    if (this.#isClosed) return;
    this.#used = used;
    const fromRevision = (revision + 1) as Revision;
    this.#watch = store.watch({ prefix, fromRevision, previous: true });
    this.#advance(revision);
  }

  async #follow(): Promise<void> {
    while (!this.#isClosed) {
      try {
        for await (const { events, revision } of this.#watch!) {
          for (const event of events) this.#happened(event);
          this.#advance(revision);
        }
        return;
      } catch (error) {
        if (this.#isClosed || hasCode(error, 'Closed')) return this.close();
        await this.#countAgain();
      }
    }
  }

  async #countAgain(): Promise<void> {
    while (!this.#isClosed) {
      try {
        return await this.#count();
      } catch {
        await sleep(this.#options.clock, retryMs);
      }
    }
  }

  #happened(event: StoreEvent): void {
    const { counted } = this.#options;
    const key = event.type === 'put' ? event.entry.key : event.key;
    if (!counted.has(key)) return;
    const { previous } = event;
    const before = previous ? entryBytes(key, previous.value) : 0;
    const now = event.type === 'put' ? entryBytes(key, event.entry.value) : 0;
    this.#used.storedBytes += now - before;
    const change = (event.type === 'put' ? 1 : 0) - (previous ? 1 : 0);
    const kind = change === 0 ? undefined : counted.kindOf(key);
    if (kind !== undefined) addObject(this.#used, kind, change as 1 | -1);
  }

  #advance(revision: Revision): void {
    this.#revision = revision;
    while (this.#waiting[0] && this.#waiting[0].revision <= revision) this.#waiting.shift()!.resolve();
  }
}
