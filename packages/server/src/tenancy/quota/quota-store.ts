/**
 * Store of a tenant that enforces its quota on every write. The growth of a transaction is reserved from before its commit until it is
 * counted, so that concurrent writes cannot exceed the limit together. Deleting and shrinking are always allowed. A tenant above a new,
 * lower quota keeps its data but cannot grow.
 *
 *     used 8, limit 10     create a: holds 1     create b: holds 1     create c: 8 + 2 + 1 > 10
 *                          committed, counted    conflict: released    waits for a and b, then 9 + 1 ≤ 10
 *
 * The limit is exact on one server. Several servers on one store count each other's writes when they see them: together they may exceed a
 * limit by the writes that they commit within that delay.
 */

import type { Clock } from '@hangar/core';
import type { CommitResult, Store, Write } from '@hangar/store';
import { ForwardingStore } from '../../objects/forwarding-store.ts';
import type { TenantQuota } from '../tenant.ts';
import { Counted } from '../usage/counted.ts';
import type { Amounts, CountedOptions } from '../usage/counted.ts';
import { Holdings } from './holdings.ts';
import type { Holding } from './holdings.ts';
import { exactGrowth, growthAtMost, mayGrow } from './growth.ts';
import { Ledger } from './ledger.ts';
import { excesses, limitsStorage } from './limits.ts';
import type { Excess } from './limits.ts';
import { quotaExceeded } from './refusal.ts';
import type { RefusedObject } from './refusal.ts';

export interface QuotaStoreOptions extends CountedOptions {
  /** As the tenant sees it. */
  readonly view: Store;
  /** As stored, without the shared base. */
  readonly store: Store;
  readonly clock: Clock;
  readonly path: string;
  /** Returns the current quota. */
  readonly quota: () => TenantQuota | undefined;
}

export class QuotaStore extends ForwardingStore {
  readonly #options: QuotaStoreOptions;
  readonly #counted: Counted;
  readonly #holdings = new Holdings();
  #ledger: { readonly ledger: Ledger; readonly started: Promise<void> } | undefined;

  constructor(options: QuotaStoreOptions) {
    super(options.view);
    this.#options = options;
    this.#counted = new Counted(options);
  }

  override async commit(writes: readonly Write[]): Promise<CommitResult> {
    if (!limitsStorage(this.#options.quota())) {
      this.#forget();
      return this.store.commit(writes);
    }
    if (!mayGrow(writes, this.#counted)) return this.store.commit(writes);
    const ledger = await this.#counting();
    const held = await this.#hold(ledger, writes);
    try {
      const result = await this.store.commit(writes);
      // The ledger counts the commit when it sees its events; keep the reservation until then.
      if (result.committed) void ledger.reached(result.revision).then(() => held.release());
      else held.release();
      return result;
    } catch (error) {
      held.release();
      throw error;
    }
  }

  override close(): Promise<void> {
    this.#forget();
    return this.store.close();
  }

  /** Starts counting at the first write that requires it. */
  async #counting(): Promise<Ledger> {
    if (!this.#ledger) {
      const { store, clock, prefix } = this.#options;
      const ledger = new Ledger({ store, clock, prefix, counted: this.#counted });
      this.#ledger = { ledger, started: ledger.start() };
    }
    const { ledger, started } = this.#ledger;
    try {
      await started;
    } catch (error) {
      if (this.#ledger?.ledger === ledger) this.#forget();
      throw error;
    }
    return ledger;
  }

  #forget(): void {
    this.#ledger?.ledger.close();
    this.#ledger = undefined;
  }

  /** Throws 403. */
  async #hold(ledger: Ledger, writes: readonly Write[]): Promise<Holding> {
    const most = growthAtMost(writes, this.#counted);
    if (this.#excess(ledger, most).length === 0) return this.#holdings.hold(most);
    const stored = async (key: string) => (await this.#options.store.get(key)).entry;
    for (let hasWaited = false; ; hasWaited = true) {
      const growth = await exactGrowth(writes, this.#counted, stored);
      const excess = this.#excess(ledger, growth);
      if (excess.length === 0) return this.#holdings.hold(growth);
      if (hasWaited) throw quotaExceeded(this.#options.path, excess, this.#refused(writes));
      // Running transactions may use less than they hold, or fail; recent deletions may not be counted yet.
      await Promise.all([this.#holdings.released(), ledger.caughtUp()]);
    }
  }

  #excess({ used }: Ledger, growth: Amounts): Excess[] {
    return excesses(this.#options.quota() ?? {}, this.#holdings.with(used, growth.objectsPerKind.keys()), growth);
  }

  /** The first put is the object of the request. */
  #refused(writes: readonly Write[]): RefusedObject | undefined {
    const write = writes.find(({ type }) => type === 'put');
    if (write?.type !== 'put') return undefined;
    const resource = this.#counted.resourceOf(write.key);
    return resource && { resource, name: write.key.slice(write.key.lastIndexOf('/') + 1) };
  }
}
