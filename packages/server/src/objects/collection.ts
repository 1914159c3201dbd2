/**
 * All objects of one resource of one control plane in memory: lists are read from here, without a query and without decoding. It follows
 * the store by a watch, and a list waits until it has caught up, so that a read still sees every write that was acknowledged before it.
 */

import type { Steps } from '@hangar/core';
import { SortedMap } from '@hangar/store';
import type { Entry, KeyRange, RangeResult, Revision, Store, Watch } from '@hangar/store';
import { ownBytes } from './own-memory.ts';
import { isStale, markStale } from './stale.ts';

/** Bytes that were derived from one state of a collection. */
export interface Derived {
  get(): readonly Uint8Array[] | undefined;
  /** Does nothing if the collection has changed since. */
  keep(made: readonly Uint8Array[]): void;
}

/** The initial state of a collection. */
export interface Filled {
  readonly entries: SortedMap<Entry>;
  readonly bytes: number;
  readonly revision: Revision;
}

/** Copies a range of the store. */
export function* filled({ entries, revision }: RangeResult): Steps<Filled> {
  const copied = new SortedMap<Entry>();
  let bytes = 0;
  for (const entry of entries) {
    copied.set(entry.key, alone(entry));
    bytes += bytesOf(entry);
    yield;
  }
  return { entries: copied, bytes, revision };
}

export class Collection {
  readonly #store: Store;
  readonly #entries: SortedMap<Entry>;
  readonly #watch: Watch;
  #revision: Revision;
  #bytes = 0;
  #waiting: { revision: Revision; resolve(): void; reject(error: Error): void }[] = [];
  #failed: Error | undefined;
  /** Data that readers derived from the current entries; dropped with the next change. */
  #derived = new Map<string, readonly Uint8Array[]>();
  #derivedBytes = 0;

  readonly #onChange: () => void;

  /** Starts from a state of the store. `onChange` is called whenever its size may have changed, and when it stopped following. */
  constructor(store: Store, prefix: string, { entries, bytes, revision }: Filled, onChange: () => void = () => {}) {
    this.#store = store;
    this.#onChange = onChange;
    this.#entries = entries;
    this.#bytes = bytes;
    this.#revision = revision;
    this.#watch = store.watch({ prefix, fromRevision: (revision + 1) as Revision });
    void this.#follow();
  }

  /** Number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  /** Revision of the current entries. */
  get revision(): Revision {
    return this.#revision;
  }

  /** Size of keys and values. */
  get bytes(): number {
    return this.#bytes + this.#derivedBytes;
  }

  /** It stopped following the store, and must no longer be read. */
  get hasFailed(): boolean {
    return this.#failed !== undefined;
  }

  /** Resolves when all writes acknowledged before the call are here; rejects if it cannot catch up. */
  async fresh(): Promise<void> {
    const revision = await this.#store.revision();
    if (this.#failed) throw this.#failed;
    if (this.#revision >= revision) return;
    this.#watch.requestProgress();
    await new Promise<void>((resolve, reject) => this.#waiting.push({ revision, resolve, reject }));
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  /** Returns the current entries in key order; `limit` 0 means all. Synchronous, so it is one state: that of `revision`. */
  read(range: KeyRange, limit: number): { entries: Entry[]; revision: Revision; more: boolean } {
    const entries = this.#entries.values(range, limit === 0 ? 0 : limit + 1);
    const more = limit > 0 && entries.length > limit;
    if (more) entries.pop();
    return { entries, revision: this.#revision, more };
  }

  /** Returns a slot for bytes derived from the current entries: kept until the next change. */
  derived(name: string): Derived {
    const state = this.#derived;
    return {
      get: () => state.get(name),
      keep: (made) => {
        if (state === this.#derived) this.#keep(name, made);
      },
    };
  }

  /** All derived data together is at most twice the size of the entries. */
  #keep(name: string, made: readonly Uint8Array[]): void {
    if (this.#derived.has(name)) return;
    this.#derivedBytes += made.reduce((sum, { length }) => sum + length, 0);
    if (this.#derivedBytes > 2 * this.#bytes) this.#forgetDerived();
    else this.#derived.set(name, made);
    this.#onChange();
  }

  #forgetDerived(): void {
    this.#derived = new Map();
    this.#derivedBytes = 0;
  }

  count(range: KeyRange): number {
    return this.#entries.count(range);
  }

  close(): void {
    this.#fail(new Error('the cached collection was released'));
  }

  async #follow(): Promise<void> {
    try {
      // Not `for await`: its generator would take memory for every collection.
      for (let batch = await this.#watch.next(); batch; batch = await this.#watch.next()) {
        const { events, revision } = batch;
        if (events.length > 0) this.#forgetDerived();
        for (const event of events) {
          if (event.type === 'put') this.#put(event.entry);
          else this.#delete(event.key);
        }
        this.#revision = revision;
        if (events.length > 0) this.#onChange();
        if (this.#waiting.length > 0) this.#answer();
      }
      this.#fail(new Error('the watch of the cached collection was closed'));
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #answer(): void {
    const reached = this.#waiting.filter((one) => one.revision <= this.#revision);
    this.#waiting = this.#waiting.filter((one) => one.revision > this.#revision);
    for (const { resolve } of reached) resolve();
  }

  #fail(error: Error): void {
    if (this.#failed) return;
    this.#failed = error;
    this.#watch.close();
    this.#onChange();
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  #put(entry: Entry): void {
    this.#delete(entry.key, true);
    this.#entries.set(entry.key, alone(entry));
    this.#bytes += bytesOf(entry);
  }

  #delete(key: string, isReplaced = false): void {
    const old = this.#entries.get(key);
    if (!old) return;
    this.#bytes -= bytesOf(old);
    if (!isReplaced) this.#entries.delete(key);
  }
}

/** Copies the value, so that the buffer it was cut from can be released. */
function alone(entry: Entry): Entry {
  const value = ownBytes(entry.value);
  if (value === entry.value) return entry;
  const kept = { ...entry, value };
  return isStale(entry) ? markStale(kept) : kept;
}

export const bytesOf = ({ key, value }: Entry): number => key.length + value.length;
