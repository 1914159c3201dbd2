/**
 * A layered view: an immutable base under a writable range of a store, as a store of its own. A tenant is born with all
 * of the base and owns only its differences.
 *
 * - An entry is the tenant's own one if there is one, else nothing if there is a tombstone, else the base's. Invariant:
 *   a key never has both an own entry and a tombstone.
 * - Base entries have the revision at which the view began (`baseRevision`) and version 1, and no events: list, then
 *   watch. The first change of a base entry makes an own entry, whose version and createRevision start there.
 * - A transaction that touches base keys reads their state, then commits with that state as its condition, again if it
 *   was overtaken; any other transaction passes through unchanged.
 * - Not offered: leases on base keys (an expiry would bring the base entry back).
 */

import type {
  CommitResult,
  Entry,
  GetResult,
  KeyRange,
  Lease,
  LeaseId,
  RangeOptions,
  RangeResult,
  RangeStatistics,
  ReadOptions,
  Revision,
  Store,
  Watch,
  WatchOptions,
  Write,
} from '../contract.ts';
import { closed, StoreError } from '../errors.ts';
import { checkKey, compareKeys } from '../keys.ts';
import { checkLimit, checkTransaction, transactionWritesMax } from '../limits.ts';
import { noBytes } from '../engine/rows.ts';
import type { BaseLayer } from './base-layer.ts';
import { Layout } from './layout.ts';
import { LayeredWatch } from './layered-watch.ts';
import { rewrite, viewOf } from './rewrite.ts';
import type { KeyState } from './rewrite.ts';

/** Every attempt that fails is one that another writer won. */
const attemptsMax = 1_000;

export interface LayeredStoreOptions {
  store: Store;
  /** The writable range, e.g. `/registry/clusters/demo/`. Keys of the view begin with it. */
  prefix: string;
  base: BaseLayer;
  /** Since when the base is visible: the revision at which the tenant was made. */
  baseRevision: Revision;
}

export function layeredStore(options: LayeredStoreOptions): Store {
  return new LayeredStore(options);
}

class LayeredStore implements Store {
  readonly #store: Store;
  readonly #layout: Layout;
  readonly #base: BaseLayer;
  readonly #baseRevision: Revision;
  readonly #watches = new Set<Watch>();
  #closed = false;

  constructor(options: LayeredStoreOptions) {
    this.#store = options.store;
    this.#layout = new Layout(options.prefix);
    this.#base = options.base;
    this.#baseRevision = options.baseRevision;
  }

  async revision(): Promise<Revision> {
    this.#refuseWhenClosed();
    return this.#store.revision();
  }

  async get(key: string, options: ReadOptions = {}): Promise<GetResult> {
    this.#refuseWhenClosed();
    const relative = this.#layout.relative(key);
    if (!this.#base.has(relative)) return this.#store.get(key, options);
    return this.#pinned(options.atRevision, async (at) => {
      const state = await this.#state(key, at);
      return { entry: state.entry, revision: state.revision };
    });
  }

  async range(range: KeyRange, options: RangeOptions = {}): Promise<RangeResult> {
    this.#refuseWhenClosed();
    if (options.limit !== undefined) checkLimit(options.limit);
    return this.#pinned(options.atRevision, async (at) => {
      const own: Entry[] = [];
      let pin = at;
      let more = false;
      for (const piece of await this.#pieces(range, at)) {
        if (more) break;
        const limit = options.limit ? { limit: Math.max(1, options.limit - own.length + 1) } : {};
        const result = await this.#store.range(piece, { ...options, ...limit, ...atRevision(pin) });
        pin = result.revision;
        own.push(...result.entries);
        more = result.more;
      }
      pin ??= await this.#store.revision();
      const entries = merged(own, await this.#visibleBase(range, own, { ...options, atRevision: pin }));
      if (!options.limit || entries.length <= options.limit) return { entries, revision: pin, more };
      return { entries: entries.slice(0, options.limit), revision: pin, more: true };
    });
  }

  async statistics(range: KeyRange, options: ReadOptions = {}): Promise<RangeStatistics> {
    this.#refuseWhenClosed();
    return this.#pinned(options.atRevision, async (at) => {
      const revision = at ?? (await this.#store.revision());
      let [keys, bytes] = [0, 0];
      for (const piece of await this.#pieces(range, at)) {
        const own = await this.#store.statistics(piece, { atRevision: revision });
        keys += own.keys;
        bytes += own.bytes;
      }
      for (const key of this.#baseKeys(range)) {
        const { own, entry } = await this.#state(key, revision);
        if (own || !entry) continue;
        keys++;
        bytes += Buffer.byteLength(key) + entry.value.length;
      }
      return { keys, bytes, revision };
    });
  }

  async commit(writes: readonly Write[]): Promise<CommitResult> {
    this.#refuseWhenClosed();
    checkTransaction(writes);
    const touched = this.#baseKeysOf(writes);
    if (touched.size === 0) return this.#commitBelow(this.#cut(writes));
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const revision = await this.#store.revision();
      const states = await this.#states(writes, touched, revision).catch(retryWhenCompacted);
      if (!states) continue;
      const conflicts = writes.flatMap((write) => {
        if (write.type === 'deleteRange' || write.expected === undefined) return [];
        const { entry } = states.get(write.key)!;
        return write.expected === (entry?.modRevision ?? 0) ? [] : [{ key: write.key, entry }];
      });
      if (conflicts.length > 0) return { committed: false, revision, conflicts };
      const { raw, deleted } = rewrite({ writes: this.#cut(writes), states, layout: this.#layout });
      if (raw.length === 0) return { committed: true, revision, deleted: 0 };
      if (raw.length > transactionWritesMax) {
        throw new StoreError(
          'InvalidRequest',
          `the transaction changes too many base entries at once (${touched.size})`,
        );
      }
      const result = await this.#store.commit(raw);
      if (result.committed) return { ...result, deleted: result.deleted + deleted };
    }
    throw new StoreError(
      'Overloaded',
      `${attemptsMax} attempts were overtaken by other writers of the same base entries`,
    );
  }

  watch(options: WatchOptions): Watch {
    if (options.prefix !== '') checkKey(options.prefix);
    const watch = new LayeredWatch({
      source: this.#store.watch({ ...options, prefix: this.#layout.prefix }),
      layout: this.#layout,
      prefix: options.prefix,
      baseEntry: (key) => (options.previous ? this.#baseEntry(key) : undefined),
      onClose: () => this.#watches.delete(watch),
    });
    if (this.#closed) watch.fail(closed());
    else this.#watches.add(watch);
    return watch;
  }

  async compact(revision: Revision): Promise<void> {
    this.#refuseWhenClosed();
    return this.#store.compact(revision);
  }

  async grantLease(ttlMs: number): Promise<Lease> {
    this.#refuseWhenClosed();
    return this.#store.grantLease(ttlMs);
  }

  async renewLease(id: LeaseId): Promise<void> {
    this.#refuseWhenClosed();
    return this.#store.renewLease(id);
  }

  async revokeLease(id: LeaseId): Promise<void> {
    this.#refuseWhenClosed();
    return this.#store.revokeLease(id);
  }

  /** Ends this view's watches; the store below is not this view's to close. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const watch of this.#watches) (watch as LayeredWatch).fail(closed());
    this.#watches.clear();
  }

  /** What was cut may be nothing at all: a range outside of the view. */
  async #commitBelow(writes: readonly Write[]): Promise<CommitResult> {
    if (writes.length > 0) return this.#store.commit(writes);
    return { committed: true, revision: await this.#store.revision(), deleted: 0 };
  }

  /** A key's own entry and tombstone at one revision, and what the view makes of them. */
  async #state(key: string, at: Revision | undefined): Promise<KeyState & { revision: Revision }> {
    const relative = this.#layout.relative(key);
    const { entry: own, revision } = await this.#store.get(key, atRevision(at));
    const inBase = this.#base.has(relative);
    const tombstone =
      inBase && !own
        ? (await this.#store.get(this.#layout.tombstone(relative), { atRevision: revision })).entry
        : undefined;
    const base = inBase && revision >= this.#baseRevision ? this.#baseEntry(key) : undefined;
    return { own, tombstone, inBase, entry: viewOf({ own, tombstone, base }), revision };
  }

  async #states(writes: readonly Write[], touched: Set<string>, at: Revision): Promise<Map<string, KeyState>> {
    const keys = new Set(touched);
    for (const write of writes) if (write.type !== 'deleteRange') keys.add(write.key);
    return new Map(await Promise.all([...keys].map(async (key) => [key, await this.#state(key, at)] as const)));
  }

  /** Base entries of the range that are neither changed nor deleted. */
  async #visibleBase(range: KeyRange, own: readonly Entry[], options: RangeOptions & { atRevision: Revision }) {
    if (options.atRevision < this.#baseRevision) return [];
    const candidates = this.#baseKeys(range);
    const tombstoneRange = this.#layout.tombstoneRange(range);
    if (candidates.length === 0 || !tombstoneRange) return [];
    const tombstones = await this.#store.range(tombstoneRange, { atRevision: options.atRevision, keysOnly: true });
    const gone = new Set(own.map((entry) => entry.key));
    for (const { key } of tombstones.entries) gone.add(this.#layout.prefix + this.#layout.hiddenBy(key)!);
    const visible = candidates.filter((key) => !gone.has(key));
    return visible.map((key) => this.#baseEntry(key, options.keysOnly)!);
  }

  /** The view's own parts of a range. One that has none reads nothing, but a revision that cannot be read is refused. */
  async #pieces(range: KeyRange, at: Revision | undefined): Promise<KeyRange[]> {
    const pieces = this.#layout.pieces(range);
    if (pieces.length === 0 && at !== undefined) await this.#store.get(this.#layout.prefix, { atRevision: at });
    return pieces;
  }

  /** Full keys of base entries in the range, in order. */
  #baseKeys(range: KeyRange): string[] {
    const relative = this.#layout.relativeRange(range);
    return relative ? this.#base.keysIn(relative).map((key) => this.#layout.prefix + key) : [];
  }

  #baseKeysOf(writes: readonly Write[]): Set<string> {
    const keys = new Set<string>();
    for (const write of writes) {
      if (write.type === 'deleteRange') for (const key of this.#baseKeys(write.range)) keys.add(key);
      else if (this.#base.has(this.#layout.relative(write.key))) keys.add(write.key);
    }
    return keys;
  }

  /** Range deletions confined to the view's own entries. */
  #cut(writes: readonly Write[]): Write[] {
    const cut: Write[] = [];
    for (const write of writes) {
      if (write.type !== 'deleteRange') cut.push(write);
      else for (const range of this.#layout.pieces(write.range)) cut.push({ type: 'deleteRange', range });
    }
    return cut;
  }

  #baseEntry(key: string, keysOnly = false): Entry | undefined {
    const stored = this.#base.value(this.#layout.relative(key));
    if (!stored) return undefined;
    const value = keysOnly ? noBytes : stored;
    const revision = this.#baseRevision;
    return { key, value, createRevision: revision, modRevision: revision, version: 1, lease: undefined };
  }

  /** Several reads at one revision: when a compaction overtakes a read of "now", it is simply done again. */
  async #pinned<T>(asked: Revision | undefined, read: (at: Revision | undefined) => Promise<T>): Promise<T> {
    if (asked !== undefined) return read(asked);
    for (;;) {
      const result = await read(undefined).catch(retryWhenCompacted);
      if (result !== undefined) return result;
    }
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw closed();
  }
}

function retryWhenCompacted(error: unknown): undefined {
  if ((error as StoreError).code !== 'Compacted') throw error;
}

function atRevision(revision: Revision | undefined): ReadOptions {
  return revision === undefined ? {} : { atRevision: revision };
}

/** Two lists in key order, without common keys, as one. */
function merged(a: readonly Entry[], b: readonly Entry[]): Entry[] {
  if (b.length === 0) return [...a];
  const all: Entry[] = [];
  let next = 0;
  for (const entry of a) {
    while (next < b.length && compareKeys(b[next]!.key, entry.key) < 0) all.push(b[next++]!);
    all.push(entry);
  }
  return all.concat(b.slice(next));
}
