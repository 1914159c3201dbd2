/**
 * The etcd driver: the contract on a real etcd v3 (3.5.8 or newer), for production and more than one machine. Replicas share a cluster;
 * each has one connection for requests and one for the etcd watch that feeds all its watches.
 *
 * The guarantees are those of etcd: a commit whose connection breaks rejects with `Unavailable` and may have happened; the driver never
 * repeats it.
 *
 * From a request to the wire: store → `reader` / `committer` / `leases` → `client` (fail-over, tokens, time limits) → `grpc/` (connections)
 * with `messages/` in the notation of `wire/`. Watches: store → `feed` → the hub, from one `watch-stream`; the past from `recent-history`
 * or, behind that, `history-reader`. `verdict` classifies errors.
 *
 * Not handled: a cluster that goes back in time (restored from a backup) under a running process, which must be restarted then; and foreign
 * keys under the prefix that are not UTF-8, which are listed but cannot be named.
 */

import { systemClock } from '@hangar/core';
import type {
  CommitResult,
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
} from '../../contract.ts';
import { HistoryWindow } from '../../engine/history-window.ts';
import type { HistoryPolicy } from '../../engine/history-window.ts';
import { closed, futureRevision, StoreError } from '../../errors.ts';
import { checkKey, checkRange } from '../../keys.ts';
import { checkLimit, checkRevision, checkTransaction, checkTtl } from '../../limits.ts';
import type { Client } from './client.ts';
import { Committer } from './committer.ts';
import { Feed } from './feed.ts';
import { Leases } from './leases.ts';
import { decodeHeader } from './messages/header.ts';
import { encodeCompact, methods } from './messages/kv.ts';
import { openClient } from './open-client.ts';
import type { ConnectionOptions } from './open-client.ts';
import { Reader } from './reader.ts';
import { Revisions } from './revisions.ts';
import { Scope } from './scope.ts';

export interface EtcdStoreOptions extends ConnectionOptions {
  /** The store holds the keys under this prefix; absent or empty: all of etcd. See `scope.ts`. */
  prefix?: string;
  /** Compacts by this policy; several replicas may. Absent: compaction is left to others (etcd itself can do it). */
  history?: HistoryPolicy | undefined;
  watchQueueLengthMax?: number;
  /** Size limit of the newest history that is kept in memory, for watches that begin a little in the past. */
  recentHistoryBytesMax?: number;
}

/** Rejects with `Unavailable`, `Unauthenticated` or, for invalid options, `InvalidRequest` or `InvalidKey`. */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<Store> {
  const store = new EtcdStore(options);
  try {
    await store.revision();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

class EtcdStore implements Store {
  readonly #client: Client;
  readonly #scope: Scope;
  readonly #revisions: Revisions;
  readonly #reader: Reader;
  readonly #committer: Committer;
  readonly #leases: Leases;
  readonly #feed: Feed;
  readonly #window: HistoryWindow | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: EtcdStoreOptions) {
    const clock = options.clock ?? systemClock;
    const client = openClient(options);
    const scope = new Scope(options.prefix ?? '');
    const revisions = new Revisions((revision) => this.#window?.advanced(revision));
    this.#client = client;
    this.#scope = scope;
    this.#revisions = revisions;
    this.#reader = new Reader({ client, clock, scope, revisions });
    this.#committer = new Committer({ client, scope, revisions, reader: this.#reader });
    this.#leases = new Leases(client, revisions);
    this.#feed = new Feed({
      client,
      clock,
      scope,
      revisions,
      currentRevision: () => this.#reader.revision(),
      isCompacted: (revision) => this.#reader.isCompacted(revision),
      watchQueueLengthMax: options.watchQueueLengthMax,
      recentHistoryBytesMax: options.recentHistoryBytesMax ?? 16 * 1024 * 1024,
    });
    if (options.history) {
      const policy = options.history;
      this.#window = new HistoryWindow({ clock, policy, compact: (to) => this.compact(to).catch(() => {}) });
    }
  }

  async revision(): Promise<Revision> {
    this.#refuseWhenClosed();
    return this.#reader.revision();
  }

  async get(key: string, options: ReadOptions = {}): Promise<GetResult> {
    this.#refuseWhenClosed();
    checkKey(key);
    this.#scope.check(key);
    checkReadOptions(options);
    return this.#reader.get(key, options);
  }

  async range(range: KeyRange, options: RangeOptions = {}): Promise<RangeResult> {
    this.#refuseWhenClosed();
    checkRange(range);
    if (options.limit !== undefined) checkLimit(options.limit);
    checkReadOptions(options);
    return this.#reader.range(range, options);
  }

  async statistics(range: KeyRange, options: ReadOptions = {}): Promise<RangeStatistics> {
    this.#refuseWhenClosed();
    checkRange(range);
    checkReadOptions(options);
    return this.#reader.statistics(range, options);
  }

  async commit(writes: readonly Write[]): Promise<CommitResult> {
    this.#refuseWhenClosed();
    checkTransaction(writes);
    if (writes.some((write) => write.type === 'put' && (write.restored ?? write.revisionMin) !== undefined))
      throw new StoreError('Unsupported', 'etcd cannot restore or skip revisions');
    return this.#committer.commit(writes);
  }

  watch(options: WatchOptions): Watch {
    if (options.prefix !== '') checkKey(options.prefix);
    if (options.fromRevision !== undefined) checkRevision(options.fromRevision);
    return this.#feed.watch(options);
  }

  async compact(revision: Revision): Promise<void> {
    this.#refuseWhenClosed();
    checkRevision(revision);
    if (revision <= this.#revisions.compacted) return;
    if (revision > this.#revisions.newest) {
      const newest = await this.#reader.revision();
      if (revision > newest) throw futureRevision(revision, newest);
    }
    // etcd looks up an event's previous value when it sends the event, so the event must be received before its history is removed.
    await this.#feed.reached(revision);
    try {
      const frame = encodeCompact(revision);
      await this.#client.call({ method: methods.compact, frame, decode: decodeHeader, repeatable: true });
    } catch (error) {
      // Another replica was faster, or a repeated call met its own effect.
      if ((error as StoreError).code !== 'Compacted') throw error;
    }
    this.#revisions.sawCompacted(revision);
  }

  async grantLease(ttlMs: number): Promise<Lease> {
    this.#refuseWhenClosed();
    checkTtl(ttlMs);
    return this.#leases.grant(ttlMs);
  }

  async renewLease(id: LeaseId): Promise<void> {
    this.#refuseWhenClosed();
    await this.#leases.renew(id);
  }

  async leaseTtlMs(id: LeaseId): Promise<number> {
    this.#refuseWhenClosed();
    return this.#leases.ttlMs(id);
  }

  async revokeLease(id: LeaseId): Promise<void> {
    this.#refuseWhenClosed();
    await this.#leases.revoke(id);
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#window?.stop();
    await this.#client.settled();
    this.#feed.close();
    this.#client.close();
  }

  #refuseWhenClosed(): void {
    if (this.#closing) throw closed();
  }
}

function checkReadOptions(options: ReadOptions): void {
  if (options.atRevision !== undefined) checkRevision(options.atRevision);
}
