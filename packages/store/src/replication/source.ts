/**
 * The source of a replica: reads a range of any store as frames.
 *
 *     for await (const frame of replicaFrames(store, { prefix: '/registry/clusters/demo/', signal })) await send(frame);
 */

import { giveWay, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { Entry, LeaseId, Revision, Store, WatchBatch } from '../contract.ts';
import type { StoreError } from '../errors.ts';
import { prefixRange } from '../keys.ts';
import { pagesIn } from '../transfer/transfer.ts';
import type { ReplicaEntry, ReplicaFrame } from './frames.ts';

export interface ReplicaSourceOptions {
  /** Keys of frames are below it. */
  readonly prefix: string;
  /** Leaves a key out. The key is below the prefix. */
  omits?(key: string): boolean;
  /** Ends the stream. */
  readonly signal: AbortSignal;
  /** The replica has everything up to this revision: no snapshot is sent. */
  readonly after?: Revision | undefined;
  /** Approximate size of the entries held in memory. */
  readonly pageBytesMax?: number | undefined;
  /** A progress frame is sent at least this often. */
  readonly progressEveryMs?: number | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Yields a snapshot of the range, then every later transaction in order, and progress frames. Ends when the signal aborts. Rejects with
 * `Compacted` if the history is removed before it was sent, for example during a long snapshot: start a new stream then.
 */
export async function* replicaFrames(
  store: Store,
  options: ReplicaSourceOptions,
): AsyncGenerator<ReplicaFrame, void, void> {
  const source = new Source(store, options);
  const after = options.after ?? (yield* source.snapshot());
  if (after !== undefined && !options.signal.aborted) yield* source.changes(after);
}

/** Bounds the memory if large entries follow small ones. */
const pageLengthMax = 64;

class Source {
  readonly #store: Store;
  readonly #options: ReplicaSourceOptions;
  readonly #clock: Clock;
  readonly #leases: LeaseTimes;

  constructor(store: Store, options: ReplicaSourceOptions) {
    this.#store = store;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#leases = new LeaseTimes(store, this.#clock);
  }

  /** Returns the revision of the snapshot; undefined after an abort. */
  async *snapshot(): AsyncGenerator<ReplicaFrame, Revision | undefined, void> {
    const { prefix, signal, pageBytesMax } = this.#options;
    let index = 0;
    let snapshot = 0 as Revision;
    const pages = pagesIn(this.#store, prefixRange(prefix), { pageBytes: pageBytesMax, pageLength: pageLengthMax });
    for await (const { entries, revision } of pages) {
      snapshot = revision;
      for (const entry of entries) {
        if (this.#omits(entry.key)) continue;
        yield { type: 'entry', entry: await this.#replicaEntry(entry), place: { snapshot, index: index++ } };
      }
      await giveWay(this.#clock);
      if (signal.aborted) return undefined;
    }
    yield { type: 'snapshot', revision: snapshot, entries: index };
    return snapshot;
  }

  async *changes(start: Revision): AsyncGenerator<ReplicaFrame, void, void> {
    const { prefix, signal, progressEveryMs = 1_000 } = this.#options;
    const watch = this.#store.watch({ prefix, fromRevision: (start + 1) as Revision });
    const close = (): void => watch.close();
    signal.addEventListener('abort', close, { once: true });
    const ask = () => {
      watch.requestProgress();
      return this.#clock.after(progressEveryMs, () => (timer = ask()));
    };
    let timer = ask();
    let after = start;
    try {
      for (let batch = await watch.next(); batch && !signal.aborted; batch = await watch.next()) {
        const frame = await this.#frame(batch, after);
        if (!frame) continue;
        after = frame.revision;
        yield frame;
      }
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', close);
      watch.close();
    }
  }

  /** Returns undefined if the replica gets nothing of the batch: the next progress frame covers it. */
  async #frame({ revision, events }: WatchBatch, after: Revision) {
    // The mark of an earlier request can have an earlier revision.
    if (events.length === 0)
      return { type: 'progress' as const, revision: Math.max(revision, after) as Revision, after };
    const puts: ReplicaEntry[] = [];
    const deletes: string[] = [];
    for (const event of events) {
      const key = event.type === 'put' ? event.entry.key : event.key;
      if (this.#omits(key)) continue;
      if (event.type === 'put') puts.push(await this.#replicaEntry(event.entry));
      else deletes.push(this.#below(key));
    }
    if (puts.length + deletes.length === 0) return undefined;
    return { type: 'batch' as const, revision, after, puts, deletes };
  }

  #omits(key: string): boolean {
    return this.#options.omits?.(this.#below(key)) ?? false;
  }

  #below(key: string): string {
    return key.slice(this.#options.prefix.length);
  }

  async #replicaEntry({ key, value, createRevision, modRevision, version, lease: id }: Entry): Promise<ReplicaEntry> {
    const entry = { key: this.#below(key), value, createRevision, modRevision, version };
    return id === undefined ? entry : { ...entry, lease: { id, ttlMs: await this.#leases.ttlMs(id) } };
  }
}

const leaseTimesMax = 1_000;
const leaseTimeIsFreshMs = 1_000;

/** Remaining times of leases. Many entries share a lease, and each read of its time can be a request to etcd. */
class LeaseTimes {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #known = new Map<LeaseId, { readonly endMs: number; readonly readMs: number }>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Returns 0 for a lease that has expired: its deletion follows in the stream. */
  async ttlMs(id: LeaseId): Promise<number> {
    const nowMs = this.#clock.monotonicMs();
    let known = this.#known.get(id);
    if (!known || nowMs - known.readMs > leaseTimeIsFreshMs) {
      if (this.#known.size >= leaseTimesMax) this.#known.clear();
      known = { endMs: nowMs + (await this.#readMs(id)), readMs: nowMs };
      this.#known.set(id, known);
    }
    return Math.max(0, Math.ceil(known.endMs - nowMs));
  }

  async #readMs(id: LeaseId): Promise<number> {
    try {
      return await this.#store.leaseTtlMs(id);
    } catch (error) {
      if ((error as StoreError).code === 'LeaseNotFound') return 0;
      throw error;
    }
  }
}
