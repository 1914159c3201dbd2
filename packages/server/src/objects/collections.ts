/**
 * The collections of one control plane that are in memory, under a budget that all control planes share: those that were
 * not read for the longest time go first. What is larger than half of the budget is never kept; it is read from the store
 * every time.
 */

import { prefixRange } from '@hangar/store';
import type { RangeResult, Store } from '@hangar/store';
import type { CacheBudget, Held } from './cache-budget.ts';
import { bytesOf, Collection } from './collection.ts';

interface Opening {
  /** Undefined: it is too large to be kept, or nothing is kept any more. */
  ready: Promise<Collection | undefined>;
  /** Once it is there. */
  collection: Collection | undefined;
  held: Held | undefined;
}

export class Collections {
  readonly #store: Store;
  /** Shared by whatever else of the control plane could be made again. */
  readonly budget: CacheBudget;
  readonly #open = new Map<string, Opening>();
  #isClosed = false;

  constructor(store: Store, budget: CacheBudget) {
    this.#store = store;
    this.budget = budget;
  }

  /** Up to date; undefined when it cannot be had from memory: too large to be kept, or given up while it was waited for. */
  async fresh(prefix: string): Promise<Collection | undefined> {
    for (let attempt = 0; attempt < 2; attempt++) {
      const opening = this.#use(prefix);
      const collection = opening.collection ?? (await opening.ready);
      if (!collection || (await becomesFresh(collection))) return collection;
      if (collection.hasFailed) this.#forget(prefix, opening);
    }
    return undefined;
  }

  /** What is in memory now, possibly a moment behind; undefined when it is not yet: then it is being read. */
  peek(prefix: string): Collection | undefined {
    const known = this.#use(prefix).collection;
    return known && !known.hasFailed ? known : undefined;
  }

  /** What they take of the budget. */
  get bytes(): number {
    let bytes = 0;
    for (const { held } of this.#open.values()) bytes += held?.bytes ?? 0;
    return bytes;
  }

  /** Ends all of them and gives their memory back. Whoever still asks reads the store. */
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
    // Whoever peeks does not wait for it.
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
      const collection = new Collection(this.#store, prefix, found, () => this.#measure(prefix, opening));
      return this.#keep(prefix, opening, collection);
    } catch (error) {
      this.#forget(prefix, opening);
      throw error;
    }
  }

  /** Undefined when it is too much to be kept. Most are small: how large it is, is asked only of those that are not. */
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
    // Another one may have found it before, and opened the next.
    if (this.#open.get(prefix) === opening) this.#open.delete(prefix);
    opening.held?.release();
    opening.collection?.close();
  }
}

const noCollection: Promise<undefined> = Promise.resolve(undefined);
const nothingKept: Readonly<Opening> = { ready: noCollection, collection: undefined, held: undefined };

/** Collections of so many entries are read without asking how large they are. */
const smallLength = 256;

/** What a collection takes besides its keys and values: its watch, and for each entry the objects around it. */
const collectionOverheadBytes = 4_096;
const entryOverheadBytes = 256;

const memoryOf = (keys: number, bytes: number): number => collectionOverheadBytes + keys * entryOverheadBytes + bytes;

/** False when it stopped following the store, or the store cannot be asked: then the store says why. */
const becomesFresh = (collection: Collection): Promise<boolean> =>
  collection.fresh().then(
    () => true,
    () => false,
  );
