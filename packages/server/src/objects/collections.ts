/**
 * The in-memory collections of one control plane, under a budget that all control planes share: the least recently read ones are evicted
 * first. A collection larger than half of the budget is never kept; it is read from the store every time.
 */

import { inSlices, Slicer } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { prefixRange } from '@hangar/store';
import type { RangeResult, Store } from '@hangar/store';
import type { CacheBudget, Held } from './cache-budget.ts';
import { bytesOf, Collection, filled } from './collection.ts';

interface Opening {
  /** Undefined: too large to keep, or already closed. */
  ready: Promise<Collection | undefined>;
  /** Set once loaded. */
  collection: Collection | undefined;
  held: Held | undefined;
}

export class Collections {
  readonly #store: Store;
  readonly #clock: Clock;
  /** Shared with all other rebuildable data of the control plane. */
  readonly budget: CacheBudget;
  readonly #open = new Map<string, Opening>();
  #isClosed = false;

  constructor(store: Store, budget: CacheBudget, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.budget = budget;
  }

  /** Returns an up-to-date collection; undefined if it is too large to keep, or was evicted during the wait. */
  async fresh(prefix: string): Promise<Collection | undefined> {
    for (let attempt = 0; attempt < 2; attempt++) {
      const opening = this.#use(prefix);
      const collection = opening.collection ?? (await opening.ready);
      if (!collection || (await becomesFresh(collection))) return collection;
      if (collection.hasFailed) this.#forget(prefix, opening);
    }
    return undefined;
  }

  /** Returns the collection in memory, possibly slightly behind; undefined if it is not loaded yet: then loading starts. */
  peek(prefix: string): Collection | undefined {
    const known = this.#use(prefix).collection;
    return known && !known.hasFailed ? known : undefined;
  }

  /** Bytes used of the budget. */
  get bytes(): number {
    let bytes = 0;
    for (const { held } of this.#open.values()) bytes += held?.bytes ?? 0;
    return bytes;
  }

  /** Closes all collections and releases their memory. Later reads use the store. */
  close(): void {
    this.#isClosed = true;
    for (const [prefix, opening] of this.#open) this.#forget(prefix, opening);
  }

  #use(prefix: string): Opening {
    const known = this.#open.get(prefix);
    if (known) {
      known.held?.used();
      return known;
    }
    if (this.#isClosed) return nothingKept;
    return this.#begin(prefix);
  }

  #begin(prefix: string): Opening {
    const opening: Opening = { ready: noCollection, collection: undefined, held: undefined };
    this.#open.set(prefix, opening);
    opening.ready = this.#load(prefix, opening);
    // `peek` does not await it.
    opening.ready.catch(() => undefined);
    return opening;
  }

  async #load(prefix: string, opening: Opening): Promise<Collection | undefined> {
    try {
      const found = await this.#read(prefix);
      if (!found || this.#open.get(prefix) !== opening) {
        this.#forget(prefix, opening);
        return undefined;
      }
      const state = await inSlices(new Slicer(this.#clock), filled(found));
      const collection = new Collection(this.#store, prefix, state, () => this.#measure(prefix, opening));
      return this.#keep(prefix, opening, collection);
    } catch (error) {
      this.#forget(prefix, opening);
      throw error;
    }
  }

  /** Returns undefined if it is too large to keep. The size is queried only for collections that are not small. */
  async #read(prefix: string): Promise<RangeResult | undefined> {
    const range = prefixRange(prefix);
    const bytesMax = this.budget.bytesMax / 2;
    const begun = await this.#store.range(range, { limit: smallLength });
    const bytesRead = begun.entries.reduce((sum, entry) => sum + bytesOf(entry), 0);
    if (memoryOf(begun.entries.length, bytesRead) > bytesMax) return undefined;
    if (!begun.more) return begun;
    const { keys, bytes } = await this.#store.statistics(range);
    return memoryOf(keys, bytes) > bytesMax ? undefined : this.#store.range(range);
  }

  #keep(prefix: string, opening: Opening, collection: Collection): Collection | undefined {
    opening.collection = collection;
    // The control plane was closed meanwhile.
    if (this.#open.get(prefix) !== opening) {
      collection.close();
      return undefined;
    }
    opening.held = this.budget.hold(() => this.#forget(prefix, opening));
    this.#measure(prefix, opening);
    return collection;
  }

  #measure(prefix: string, opening: Opening): void {
    const { collection, held } = opening;
    if (!collection) return;
    if (collection.hasFailed) this.#forget(prefix, opening);
    else held?.resize(memoryOf(collection.size, collection.bytes));
  }

  #forget(prefix: string, opening: Opening): void {
    // Another caller may have found it first, and opened the next.
    if (this.#open.get(prefix) === opening) this.#open.delete(prefix);
    opening.held?.release();
    opening.collection?.close();
  }
}

const noCollection: Promise<undefined> = Promise.resolve(undefined);
const nothingKept: Readonly<Opening> = { ready: noCollection, collection: undefined, held: undefined };

/** Collections with at most this many entries are read without querying their size. */
const smallLength = 256;

/** Overhead besides keys and values: the watch, and the objects around each entry. */
const collectionOverheadBytes = 4_096;
const entryOverheadBytes = 256;

const memoryOf = (keys: number, bytes: number): number => collectionOverheadBytes + keys * entryOverheadBytes + bytes;

/** Resolves to false if it stopped following the store or the store failed: then a read of the store reports the cause. */
const becomesFresh = (collection: Collection): Promise<boolean> =>
  collection.fresh().then(
    () => true,
    () => false,
  );
