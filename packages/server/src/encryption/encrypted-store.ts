/**
 * A store that encrypts the values of some resources at rest. Layers above see plain values, layers below encrypted ones; keys are not
 * secret.
 */

import type { Entry, Store, StoreEvent, Watch, WatchBatch, WatchOptions, Write } from '@hangar/store';
import { ForwardingStore } from '../objects/forwarding-store.ts';
import { markStale } from '../objects/stale.ts';
import type { Transformer } from './transformer.ts';

/** Returns undefined if values of this key are stored unencrypted. */
export type TransformerOf = (key: string) => Transformer | undefined;

export class EncryptedStore extends ForwardingStore {
  readonly #transformerOf: TransformerOf;
  readonly #entries = new WeakMap<Entry, Entry>();
  readonly #batches = new WeakMap<WatchBatch, WatchBatch>();

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
    return new OpeningWatch(this.store.watch(options), (batch) => this.#openedBatch(batch));
  }

  #sealed(write: Write): Write {
    if (write.type !== 'put') return write;
    const transformer = this.#transformerOf(write.key);
    return transformer ? { ...write, value: transformer.toStore(write.key, write.value) } : write;
  }

  /** Decrypts an entry once: all readers and watches share the same entry object. */
  #opened(entry: Entry): Entry {
    const transformer = this.#transformerOf(entry.key);
    if (!transformer) return entry;
    let plain = this.#entries.get(entry);
    if (!plain) {
      const opened = transformer.fromStore(entry.key, entry.value);
      plain = { ...entry, value: opened.value };
      if (opened.isStale) markStale(plain);
      this.#entries.set(entry, plain);
    }
    return plain;
  }

  /** Returns the same batch for all watches, so that data derived from it can be shared too. */
  #openedBatch(batch: WatchBatch): WatchBatch {
    if (!batch.events.some((event) => this.#transformerOf(keyOf(event)))) return batch;
    let plain = this.#batches.get(batch);
    if (!plain) {
      plain = { ...batch, events: batch.events.map((event) => this.#openedEvent(event)) };
      this.#batches.set(batch, plain);
    }
    return plain;
  }

  #openedEvent(event: StoreEvent): StoreEvent {
    const previous = event.previous && { previous: this.#opened(event.previous) };
    return event.type === 'put'
      ? { ...event, entry: this.#opened(event.entry), ...previous }
      : { ...event, ...previous };
  }
}

const keyOf = (event: StoreEvent): string => (event.type === 'put' ? event.entry.key : event.key);

class OpeningWatch implements Watch {
  readonly #watch: Watch;
  readonly #opened: (batch: WatchBatch) => WatchBatch;

  constructor(watch: Watch, opened: (batch: WatchBatch) => WatchBatch) {
    this.#watch = watch;
    this.#opened = opened;
  }

  async next(): Promise<WatchBatch | undefined> {
    const batch = await this.#watch.next();
    return batch && this.#opened(batch);
  }

  async *[Symbol.asyncIterator](): AsyncIterator<WatchBatch> {
    for await (const batch of this.#watch) yield this.#opened(batch);
  }

  requestProgress(): void {
    this.#watch.requestProgress();
  }

  close(): void {
    this.#watch.close();
  }
}
