/** A store whose values are converted when they are read: values of an API server that are protobuf become JSON. */

import type { Entry, Store, StoreEvent, Watch, WatchBatch } from '../../../contract.ts';

/** Returns the value as a tenant stores it. `key` is below the prefix of the replica. Throws if the value cannot be converted. */
export type ConvertValue = (key: string, value: Uint8Array) => Uint8Array;

export interface ConvertedStoreOptions {
  readonly prefix: string;
  readonly convert: ConvertValue;
}

/** Values of previous entries and of conflicts are not converted, and written values stay as they are. */
export function convertedStore(store: Store, { prefix, convert }: ConvertedStoreOptions): Store {
  const convertEntry = (entry: Entry): Entry => {
    const value = convert(entry.key.slice(prefix.length), entry.value);
    return value === entry.value ? entry : { ...entry, value };
  };
  const convertEvent = (event: StoreEvent): StoreEvent =>
    event.type === 'put' ? { ...event, entry: convertEntry(event.entry) } : event;
  return {
    async get(key, options) {
      const result = await store.get(key, options);
      return { ...result, entry: result.entry && convertEntry(result.entry) };
    },
    async range(range, options) {
      const result = await store.range(range, options);
      return options?.keysOnly ? result : { ...result, entries: result.entries.map(convertEntry) };
    },
    watch: (options) => new ConvertedWatch(store.watch(options), convertEvent),
    revision: () => store.revision(),
    statistics: (range, options) => store.statistics(range, options),
    commit: (writes) => store.commit(writes),
    compact: (revision) => store.compact(revision),
    grantLease: (ttlMs) => store.grantLease(ttlMs),
    renewLease: (id) => store.renewLease(id),
    leaseTtlMs: (id) => store.leaseTtlMs(id),
    revokeLease: (id) => store.revokeLease(id),
    close: () => store.close(),
  };
}

class ConvertedWatch implements Watch {
  readonly #watch: Watch;
  readonly #convert: (event: StoreEvent) => StoreEvent;

  constructor(watch: Watch, convert: (event: StoreEvent) => StoreEvent) {
    this.#watch = watch;
    this.#convert = convert;
  }

  async next(): Promise<WatchBatch | undefined> {
    const batch = await this.#watch.next();
    return batch && { ...batch, events: batch.events.map(this.#convert) };
  }

  requestProgress(): void {
    this.#watch.requestProgress();
  }

  close(): void {
    this.#watch.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchBatch, void, void> {
    try {
      for (let batch = await this.next(); batch; batch = await this.next()) yield batch;
    } finally {
      this.close();
    }
  }
}
