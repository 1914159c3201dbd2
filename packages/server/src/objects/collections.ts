/**
 * The collections that are in memory, under one budget: those that were not read for the longest time go first. What is
 * larger than half of the budget is never kept; it is read from the store every time.
 */

import { prefixRange } from '@hangar/store';
import type { Store } from '@hangar/store';
import { Collection } from './collection.ts';

export class Collections {
  readonly #store: Store;
  readonly #bytesMax: number;
  /** By prefix, in the order of their last use. */
  readonly #open = new Map<string, Promise<Collection | undefined>>();

  /** Those that were peeked at, by prefix. */
  readonly #loaded = new Map<string, Collection>();

  constructor(store: Store, bytesMax: number) {
    this.#store = store;
    this.#bytesMax = bytesMax;
  }

  /** Up to date; undefined when it cannot be had from memory: too large to be kept, or given up while it was waited for. */
  async fresh(prefix: string): Promise<Collection | undefined> {
    for (let attempt = 0; attempt < 2; attempt++) {
      const opening = this.#use(prefix);
      const collection = await opening;
      if (!collection || (await becomesFresh(collection))) return collection;
      // Another one may have found it before, and opened the next.
      if (collection.hasFailed && this.#open.get(prefix) === opening) this.#open.delete(prefix);
    }
    return undefined;
  }

  /** What is in memory now, possibly a moment behind; undefined when it is not yet: then it is being read. */
  peek(prefix: string): Collection | undefined {
    const known = this.#loaded.get(prefix);
    if (known && !known.hasFailed) return known;
    this.#loaded.delete(prefix);
    void this.#use(prefix).then(
      (collection) => collection && this.#open.has(prefix) && this.#loaded.set(prefix, collection),
      () => undefined,
    );
    return undefined;
  }

  #use(prefix: string): Promise<Collection | undefined> {
    const known = this.#open.get(prefix);
    this.#open.delete(prefix);
    const used = known ?? this.#load(prefix);
    this.#open.set(prefix, used);
    return used;
  }

  async #load(prefix: string): Promise<Collection | undefined> {
    try {
      const { bytes } = await this.#store.statistics(prefixRange(prefix));
      if (bytes > this.#bytesMax / 2) {
        this.#open.delete(prefix);
        return undefined;
      }
      const collection = await Collection.open(this.#store, prefix, () => void this.#shrink());
      void this.#shrink();
      return collection;
    } catch (error) {
      this.#open.delete(prefix);
      throw error;
    }
  }

  /** Gives up the oldest until the rest fits. */
  async #shrink(): Promise<void> {
    const all = await Promise.all(
      [...this.#open].map(async ([prefix, opening]) => ({ prefix, collection: await opening.catch(() => undefined) })),
    );
    let bytes = all.reduce((sum, { collection }) => sum + (collection?.bytes ?? 0), 0);
    for (const { prefix, collection } of all) {
      if (bytes <= this.#bytesMax) return;
      if (!collection) continue;
      this.#open.delete(prefix);
      bytes -= collection.bytes;
      collection.close();
    }
  }

  close(): void {
    for (const opening of this.#open.values()) opening.then((collection) => collection?.close()).catch(() => undefined);
    this.#open.clear();
  }
}

/** False when it stopped following the store, or the store cannot be asked: then the store says why. */
const becomesFresh = (collection: Collection): Promise<boolean> =>
  collection.fresh().then(
    () => true,
    () => false,
  );
