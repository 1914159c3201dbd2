/**
 * All objects of one resource of one control plane in memory, as the store has them: lists are read from here, without a
 * query and without decoding. It follows the store by a watch, and a list waits until it has followed far enough, so that a
 * read still sees every write that was acknowledged before it.
 */

import { prefixRange, SortedMap } from '@hangar/store';
import type { Entry, KeyRange, RangeResult, Revision, Store, Watch } from '@hangar/store';

export class Collection {
  readonly #store: Store;
  readonly #entries = new SortedMap<Entry>();
  readonly #watch: Watch;
  #revision: Revision;
  #bytes = 0;
  #waiting: { revision: Revision; resolve(): void; reject(error: Error): void }[] = [];
  #failed: Error | undefined;
  /** What was made of the entries as they are, by those who read them; gone with the next change. */
  #derived = new Map<string, readonly Uint8Array[]>();
  #derivedBytes = 0;

  readonly #onGrowth: () => void;
  #toldBytes = 0;

  private constructor(store: Store, prefix: string, { entries, revision }: RangeResult, onGrowth: () => void) {
    this.#store = store;
    this.#onGrowth = onGrowth;
    this.#revision = revision;
    for (const entry of entries) this.#put(entry);
    this.#toldBytes = this.#bytes;
    this.#watch = store.watch({ prefix, fromRevision: (revision + 1) as Revision });
    void this.#follow();
  }

  /** `onGrowth` is told now and then that it has become larger. */
  static async open(store: Store, prefix: string, onGrowth: () => void = () => {}): Promise<Collection> {
    return new Collection(store, prefix, await store.range(prefixRange(prefix)), onGrowth);
  }

  /** Of keys and values. */
  get bytes(): number {
    return this.#bytes + this.#derivedBytes;
  }

  /** It stopped following the store, and must not be read any more. */
  get hasFailed(): boolean {
    return this.#failed !== undefined;
  }

  /** Resolves when everything that was acknowledged before the call is here; rejects when it never will be. */
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

  /** What is here now, in key order; `limit` 0 means all. Synchronous, so it is one state: that of `revision`. */
  read(range: KeyRange, limit: number): { entries: Entry[]; revision: Revision; more: boolean } {
    const entries = this.#entries.values(range, limit === 0 ? 0 : limit + 1);
    const more = limit > 0 && entries.length > limit;
    if (more) entries.pop();
    return { entries, revision: this.#revision, more };
  }

  /** Bytes that were made of this very state before, or are made now. All of them together are no more than the entries. */
  derived(name: string, make: () => readonly Uint8Array[]): readonly Uint8Array[] {
    const known = this.#derived.get(name);
    if (known) return known;
    const made = make();
    this.#derivedBytes += made.reduce((sum, { length }) => sum + length, 0);
    if (this.#derivedBytes > 2 * this.#bytes) this.#forgetDerived();
    else this.#derived.set(name, made);
    this.#tellGrowth();
    return made;
  }

  #tellGrowth(): void {
    if (this.bytes < this.#toldBytes + Math.max(growthToldBytes, this.#toldBytes / 8)) return;
    this.#toldBytes = this.bytes;
    this.#onGrowth();
  }

  #forgetDerived(): void {
    this.#derived = new Map();
    this.#derivedBytes = 0;
  }

  count(range: KeyRange): number {
    return this.#entries.count(range);
  }

  close(): void {
    this.#watch.close();
    this.#fail(new Error('the collection was given up'));
  }

  async #follow(): Promise<void> {
    try {
      for await (const { events, revision } of this.#watch) {
        if (events.length > 0) this.#forgetDerived();
        for (const event of events) {
          if (event.type === 'put') this.#put(event.entry);
          else this.#delete(event.key);
        }
        this.#revision = revision;
        this.#tellGrowth();
        if (this.#waiting.length > 0) this.#answer();
      }
      this.#fail(new Error('the watch of the collection ended'));
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
    this.#failed ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  #put(entry: Entry): void {
    this.#delete(entry.key, true);
    this.#entries.set(entry.key, entry);
    this.#bytes += bytesOf(entry);
  }

  #delete(key: string, isReplaced = false): void {
    const old = this.#entries.get(key);
    if (!old) return;
    this.#bytes -= bytesOf(old);
    if (!isReplaced) this.#entries.delete(key);
  }
}

/** The budget is looked at no more often than this. */
const growthToldBytes = 64 * 1024;

const bytesOf = ({ key, value }: Entry): number => key.length + value.length;
