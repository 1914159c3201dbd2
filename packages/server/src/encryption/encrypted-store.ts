/**
 * A store whose values of some resources are sealed at rest. Everything above sees plain values, everything below sealed
 * ones; keys are not secret.
 */

import type { Entry, Store, StoreEvent, Watch, WatchBatch, WatchOptions, Write } from '@hangar/store';
import { ForwardingStore } from '../objects/forwarding-store.ts';
import { markStale } from '../objects/stale.ts';
import type { Transformer } from './transformer.ts';

/** Undefined: values of this key are stored as they are. */
export type TransformerOf = (key: string) => Transformer | undefined;

export class EncryptedStore extends ForwardingStore {
  readonly #transformerOf: TransformerOf;

  constructor(store: Store, transformerOf: TransformerOf) {
    super(store);
    this.#transformerOf = transformerOf;
  }

  override async get(...parameters: Parameters<Store['get']>): ReturnType<Store['get']> {
    const { entry, revision } = await this.store.get(...parameters);
    return { entry: entry && this.#opened(entry), revision };
  }

  override async range(...parameters: Parameters<Store['range']>): ReturnType<Store['range']> {
    const result = await this.store.range(...parameters);
    if (parameters[1]?.keysOnly) return result;
    return { ...result, entries: result.entries.map((entry) => this.#opened(entry)) };
  }

  override async commit(writes: readonly Write[]): ReturnType<Store['commit']> {
    const result = await this.store.commit(writes.map((write) => this.#sealed(write)));
    if (result.committed) return result;
    const conflicts = result.conflicts.map(({ key, entry }) => ({ key, entry: entry && this.#opened(entry) }));
    return { ...result, conflicts };
  }

  override watch(options: WatchOptions): Watch {
    return new OpeningWatch(this.store.watch(options), (entry) => this.#opened(entry));
  }

  #sealed(write: Write): Write {
    if (write.type !== 'put') return write;
    const transformer = this.#transformerOf(write.key);
    return transformer ? { ...write, value: transformer.toStore(write.key, write.value) } : write;
  }

  #opened(entry: Entry): Entry {
    const transformer = this.#transformerOf(entry.key);
    if (!transformer) return entry;
    const opened = transformer.fromStore(entry.key, entry.value);
    const plain = { ...entry, value: opened.value };
    return opened.isStale ? markStale(plain) : plain;
  }
}

class OpeningWatch implements Watch {
  readonly #watch: Watch;
  readonly #opened: (entry: Entry) => Entry;

  constructor(watch: Watch, opened: (entry: Entry) => Entry) {
    this.#watch = watch;
    this.#opened = opened;
  }

  async next(): Promise<WatchBatch | undefined> {
    const batch = await this.#watch.next();
    return batch && this.#plain(batch);
  }

  async *[Symbol.asyncIterator](): AsyncIterator<WatchBatch> {
    for await (const batch of this.#watch) yield this.#plain(batch);
  }

  requestProgress(): void {
    this.#watch.requestProgress();
  }

  close(): void {
    this.#watch.close();
  }

  #plain(batch: WatchBatch): WatchBatch {
    return batch.events.length === 0 ? batch : { ...batch, events: batch.events.map((event) => this.#event(event)) };
  }

  #event(event: StoreEvent): StoreEvent {
    const previous = event.previous && { previous: this.#opened(event.previous) };
    return event.type === 'put'
      ? { ...event, entry: this.#opened(event.entry), ...previous }
      : { ...event, ...previous };
  }
}
