/**
 * A layered view: an immutable base under a writable range of a store, as a separate store. A new tenant shows all of the base and stores
 * only its differences.
 *
 * - An entry is the tenant's own one if there is one, else nothing if there is a tombstone, else the base's. Invariant: a key never has
 *   both an own entry and a tombstone.
 * - Base entries have the revision at which the view began (`baseRevision`) and version 1, and no events: list, then watch. The first
 *   change of a base entry makes an own entry, whose version and createRevision start there.
 * - A transaction that touches base keys reads their state, then commits with that state as its condition, and retries if the state has
 *   changed; any other transaction passes through unchanged.
 * - A copy of a base entry with its revisions (`restored`), written to the range below the view, changes nothing. Later changes of the key
 *   continue its version and keep its createRevision, as in a store without a base.
 * - Not offered: leases on base keys (an expiry would bring the base entry back), and restored puts on them through the view.
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
import { hasCode } from '@hangar/core';
import { closed, StoreError } from '../errors.ts';
import { successor } from '../keys.ts';
import { checkLimit, checkTransaction, isConditional, transactionWritesMax } from '../limits.ts';
import { noBytes } from '../engine/rows.ts';
import type { Base } from './base-layer.ts';
import { beforeFence, checkFence, commitFenced, insistOnFence } from './fence.ts';
import type { Fence } from './fence.ts';
import { Layout } from './layout.ts';
import { merged } from './merged.ts';
import { rewrite, viewOf } from './rewrite.ts';
import type { KeyState } from './rewrite.ts';
import { ViewWatches } from './view-watches.ts';

/** Each failed attempt means that another writer succeeded. */
const attemptsMax = 1_000;

export interface LayeredStoreOptions {
  store: Store;
  /** The writable range, e.g. `/registry/clusters/demo/`. Keys of the view begin with it. */
  prefix: string;
  base: Base;
  /** Revision from which the base is visible: the one at which the tenant was created. */
  baseRevision: Revision;
  /**
   * If the fence is broken, commits reject with `Fenced` and write nothing, and reads and watches reject with it: another tenant may use
   * the same range. Revisions before the fence are `Compacted`: they may belong to another tenant.
   */
  fence?: Fence;
  /** Limit of batches that wait for the consumer of a watch; beyond it, the watch reads the history. */
  watchQueueLengthMax?: number;
}

export function layeredStore(options: LayeredStoreOptions): Store {
  return new LayeredStore(options);
}

/** Base keys that a tenant deleted, as of `revision`; undefined: valid for every revision. */
interface Hidden {
  readonly keys: readonly string[];
  readonly revision: Revision | undefined;
}

/** Differences of a tenant from its base. */
interface Differences {
  readonly own: readonly Entry[];
  readonly hidden: Hidden;
  readonly revision: Revision;
  readonly limit?: number;
}

class LayeredStore implements Store {
  readonly #store: Store;
  readonly #layout: Layout;
  readonly #base: Base;
  readonly #baseRevision: Revision;
  readonly #fence: Fence | undefined;
  readonly #watches: ViewWatches;
  /** Set when a call found that the fence is broken. */
  #fencedError: StoreError | undefined;
  #closed = false;

  constructor(options: LayeredStoreOptions) {
    this.#store = options.store;
    this.#layout = new Layout(options.prefix);
    this.#base = options.base;
    this.#baseRevision = options.baseRevision;
    this.#fence = options.fence;
    this.#watches = new ViewWatches({
      store: options.store,
      layout: this.#layout,
      fence: options.fence,
      baseEntry: (relative) => this.#baseEntry(relative),
      isCopyOfBase: ({ key, modRevision, version }) =>
        modRevision === this.#baseRevision && version === 1 && this.#base.has(this.#layout.relative(key)),
      queueLengthMax: options.watchQueueLengthMax,
    });
  }

  async revision(): Promise<Revision> {
    this.#refuseWhenClosed();
    return this.#store.revision();
  }

  async get(key: string, options: ReadOptions = {}): Promise<GetResult> {
    this.#refuseWhenClosed();
    this.#refuseBeforeFence(options.atRevision);
    const relative = this.#layout.relative(key);
    if (!this.#base.has(relative)) return this.#fenced(() => this.#store.get(key, options));
    return this.#pinned(options.atRevision, async (at) => {
      const state = await this.#fenced(() => this.#state(key, at));
      return { entry: state.entry, revision: state.revision };
    });
  }

  async range(range: KeyRange, options: RangeOptions = {}): Promise<RangeResult> {
    this.#refuseWhenClosed();
    this.#refuseBeforeFence(options.atRevision);
    if (options.limit !== undefined) checkLimit(options.limit);
    const limit = options.limit || Number.POSITIVE_INFINITY;
    return this.#pinned(options.atRevision, async (at) => {
      const candidates = this.#baseKeys(range);
      const [{ entries: own, revision, more }, hidden] = await this.#atOnce(
        () => this.#fenced(() => this.#own(range, { ...options, ...atRevision(at) })),
        (pin) => this.#hidden(range, candidates, pin),
        at,
      );
      const visible = this.#visible(candidates, { own, hidden, revision, limit });
      const entries = merged(
        own,
        visible.map((key) => this.#baseEntry(key, options.keysOnly)!),
      );
      if (entries.length <= limit) return { entries, revision, more };
      return { entries: entries.slice(0, limit), revision, more: true };
    });
  }

  async statistics(range: KeyRange, options: ReadOptions = {}): Promise<RangeStatistics> {
    this.#refuseWhenClosed();
    this.#refuseBeforeFence(options.atRevision);
    return this.#pinned(options.atRevision, async (at) => {
      const { revision } = await this.#fenced(async () => ({ revision: at ?? (await this.#store.revision()) }));
      const candidates = this.#baseKeys(range);
      const pieces = await this.#pieces(range, at);
      const [{ keys: hidden }, ...parts] = await Promise.all([
        this.#hidden(range, candidates, revision),
        ...pieces.map((piece) => this.#store.statistics(piece, { atRevision: revision })),
      ]);
      let keys = parts.reduce((sum, one) => sum + one.keys, 0);
      let bytes = parts.reduce((sum, one) => sum + one.bytes, 0);
      const own = keys === 0 ? [] : await this.#ownKeysAmong(candidates, revision);
      for (const key of this.#visible(candidates, { own, hidden: { keys: hidden, revision }, revision })) {
        keys++;
        bytes += this.#layout.prefixBytes + Buffer.byteLength(key) + this.#base.valueLength(key);
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
      if (conflicts.length > 0) {
        const fence = this.#fence;
        if (fence) await this.#noticed(() => checkFence(this.#store, fence, revision));
        return { committed: false, revision, conflicts };
      }
      const { raw, deleted } = rewrite({ writes: this.#cut(writes), states, layout: this.#layout });
      if (raw.filter(isConditional).length > transactionWritesMax) {
        throw new StoreError(
          'InvalidRequest',
          `the transaction changes too many base entries at once (${touched.size})`,
        );
      }
      const result = await this.#commitBelow(raw);
      if (result.committed) return { ...result, deleted: result.deleted + deleted };
    }
    throw new StoreError(
      'Overloaded',
      `${attemptsMax} attempts conflicted with other writers of the same base entries`,
    );
  }

  watch(options: WatchOptions): Watch {
    return this.#watches.watch(options);
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

  async leaseTtlMs(id: LeaseId): Promise<number> {
    this.#refuseWhenClosed();
    return this.#store.leaseTtlMs(id);
  }

  async revokeLease(id: LeaseId): Promise<void> {
    this.#refuseWhenClosed();
    return this.#store.revokeLease(id);
  }

  /** Ends this view's watches: with `Fenced` if the fence is known to be broken, else with `Closed`. The store below stays open. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#watches.close(this.#fencedError);
  }

  /** The writes may be empty after the cut: a range outside of the view. */
  async #commitBelow(writes: readonly Write[]): Promise<CommitResult> {
    const fence = this.#fence;
    if (fence) return this.#noticed(() => commitFenced(this.#store, fence, writes));
    if (writes.length > 0) return this.#store.commit(writes);
    return { committed: true, revision: await this.#store.revision(), deleted: 0 };
  }

  /** Returns a key's own entry and tombstone at one revision, and the resulting entry of the view. */
  async #state(key: string, at: Revision | undefined): Promise<KeyState & { revision: Revision }> {
    const relative = this.#layout.relative(key);
    const inBase = this.#base.has(relative);
    const [{ entry: own, revision }, { entry: tombstone }] = await this.#atOnce(
      () => this.#store.get(key, atRevision(at)),
      async (pin) =>
        inBase
          ? this.#store.get(this.#layout.tombstone(relative), atRevision(pin))
          : { entry: undefined, revision: undefined },
      at,
    );
    const base = inBase && revision >= this.#baseRevision ? this.#baseEntry(relative) : undefined;
    return { own, tombstone, inBase, entry: viewOf({ own, tombstone, base }), revision };
  }

  /**
   * Reads own entries and tombstones as of one revision. Both reads start at once; the second is repeated if a write came between. A second
   * result without a revision is valid for every revision.
   */
  async #atOnce<A extends { revision: Revision }, B extends { revision: Revision | undefined }>(
    first: () => Promise<A>,
    second: (pin: Revision | undefined) => Promise<B>,
    at: Revision | undefined,
  ): Promise<[A, B]> {
    const [one, other] = await Promise.all([first(), second(at)]);
    const isSame = other.revision === undefined || other.revision === one.revision;
    return [one, isSame ? other : await second(one.revision)];
  }

  async #states(writes: readonly Write[], touched: Set<string>, at: Revision): Promise<Map<string, KeyState>> {
    const keys = new Set(touched);
    for (const write of writes) if (write.type !== 'deleteRange') keys.add(write.key);
    return new Map(await Promise.all([...keys].map(async (key) => [key, await this.#state(key, at)] as const)));
  }

  /** Returns the view's own entries of a range, one more than the limit if there are more. */
  async #own(range: KeyRange, options: RangeOptions): Promise<RangeResult> {
    const entries: Entry[] = [];
    let pin = options.atRevision;
    let more = false;
    for (const piece of await this.#pieces(range, pin)) {
      if (more) break;
      const limit = options.limit ? { limit: Math.max(1, options.limit - entries.length + 1) } : {};
      const result = await this.#store.range(piece, { ...options, ...limit, ...atRevision(pin) });
      pin = result.revision;
      for (const entry of result.entries) entries.push(entry);
      more = result.more;
    }
    return { entries, revision: pin ?? (await this.#store.revision()), more };
  }

  /** Returns the own entries of these base keys. */
  async #ownKeysAmong(candidates: readonly string[], at: Revision): Promise<readonly Entry[]> {
    const [first, last] = [candidates[0], candidates.at(-1)];
    if (first === undefined || last === undefined) return [];
    const { prefix } = this.#layout;
    const range = { start: prefix + first, end: successor(prefix + last) };
    return (await this.#store.range(range, { atRevision: at, keysOnly: true })).entries;
  }

  /** Returns the base keys of the range that have a tombstone. Reads nothing without base keys. */
  async #hidden(range: KeyRange, candidates: readonly string[], at: Revision | undefined): Promise<Hidden> {
    const tombstones = candidates.length === 0 ? undefined : this.#layout.tombstoneRange(range);
    if (!tombstones) return { keys: [], revision: undefined };
    const { entries, revision } = await this.#store.range(tombstones, { ...atRevision(at), keysOnly: true });
    return { keys: entries.map(({ key }) => this.#layout.hiddenBy(key)!), revision };
  }

  /** Returns the base keys that are neither changed nor deleted, one more than the limit if there are more. */
  #visible(candidates: readonly string[], { own, hidden, revision, limit = Number.POSITIVE_INFINITY }: Differences) {
    if (revision < this.#baseRevision) return [];
    if (own.length === 0 && hidden.keys.length === 0) return candidates.slice(0, limit + 1);
    const gone = new Set(hidden.keys);
    for (const { key } of own) gone.add(key.slice(this.#layout.prefix.length));
    return candidates.filter((key) => !gone.has(key)).slice(0, limit + 1);
  }

  /** Returns the view's own parts of a range. Without any, nothing is read, but an unreadable revision is refused. */
  async #pieces(range: KeyRange, at: Revision | undefined): Promise<KeyRange[]> {
    const pieces = this.#layout.pieces(range);
    if (pieces.length === 0 && at !== undefined) await this.#store.get(this.#layout.prefix, { atRevision: at });
    return pieces;
  }

  /** Returns the keys of the base in the range, in order. */
  #baseKeys(range: KeyRange): readonly string[] {
    const relative = this.#layout.relativeRange(range);
    return relative ? this.#base.keysIn(relative) : [];
  }

  #baseKeysOf(writes: readonly Write[]): Set<string> {
    const keys = new Set<string>();
    for (const write of writes) {
      if (write.type === 'deleteRange')
        for (const key of this.#baseKeys(write.range)) keys.add(this.#layout.prefix + key);
      else if (this.#base.has(this.#layout.relative(write.key))) keys.add(write.key);
    }
    return keys;
  }

  /** Limits range deletions to the view's own entries. */
  #cut(writes: readonly Write[]): Write[] {
    const cut: Write[] = [];
    for (const write of writes) {
      if (write.type !== 'deleteRange') cut.push(write);
      else for (const range of this.#layout.pieces(write.range)) cut.push({ type: 'deleteRange', range });
    }
    return cut;
  }

  #baseEntry(relative: string, keysOnly = false): Entry | undefined {
    const value = keysOnly && this.#base.has(relative) ? noBytes : this.#base.value(relative);
    if (!value) return undefined;
    const revision = this.#baseRevision;
    const key = this.#layout.prefix + relative;
    return { key, value, createRevision: revision, modRevision: revision, version: 1, lease: undefined };
  }

  /**
   * Reads while the fence holds. The fence is read concurrently, and again if its read was the earlier one: a fence that holds at a later
   * revision held at an earlier one.
   */
  async #fenced<T extends { readonly revision: Revision }>(read: () => Promise<T>): Promise<T> {
    const fence = this.#fence;
    if (!fence) return read();
    return this.#noticed(async () => {
      const [result, { revision, entry }] = await Promise.all([read(), this.#store.get(fence.key)]);
      insistOnFence(fence, entry);
      if (revision < result.revision) insistOnFence(fence, (await this.#store.get(fence.key)).entry);
      return result;
    });
  }

  /** Remembers that the fence is broken: it stays broken. */
  async #noticed<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (hasCode(error, 'Fenced')) this.#fencedError ??= error as StoreError;
      throw error;
    }
  }

  /** Makes several reads at one revision. If a compaction overtakes a read of "now", it is repeated. */
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

  #refuseBeforeFence(asked: Revision | undefined): void {
    const tooEarly = beforeFence(this.#fence, asked);
    if (tooEarly) throw tooEarly;
  }
}

function retryWhenCompacted(error: unknown): undefined {
  if ((error as StoreError).code !== 'Compacted') throw error;
}

function atRevision(revision: Revision | undefined): ReadOptions {
  return revision === undefined ? {} : { atRevision: revision };
}
