/**
 * The store's contract: etcd's semantics, in one file. Drivers implement it (`drivers/*`), the conformance suite (`conformance/`) tests
 * each of them against it, and all other code depends only on this file.
 *
 * - A **revision** is the number of a committed transaction. Revisions grow strictly; gaps are allowed. All writes of one transaction share
 *   its revision.
 * - **Reads are linearizable**: they see every transaction that was acknowledged before they were called.
 * - **A write is acknowledged after it is durable.** A rejected commit with `StorageFailed` or `Unavailable` may or may not have happened,
 *   as a whole; every other rejection means that it did not.
 * - **A watch is ordered, unique, atomic and gapless**: every revision from its start that touched its prefix, once, in order, with all its
 *   events in one batch, only after it is durable.
 * - Keys are strings ordered by their UTF-8 bytes; values are opaque bytes. A value that was handed over (to `commit`, or out of a read or
 *   watch) is shared: its bytes must not change afterwards.
 */

declare const brand: unique symbol;

/** The number of a committed transaction; 0 means "before everything" and, in a condition, "absent". */
export type Revision = number & { readonly [brand]: 'Revision' };

/** As a condition: the key must not exist. */
export const absent = 0 as Revision;

export type LeaseId = string & { readonly [brand]: 'LeaseId' };

export interface Entry {
  readonly key: string;
  readonly value: Uint8Array;
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  /** 1 after creation, one more with every put. */
  readonly version: number;
  readonly lease: LeaseId | undefined;
}

/** Keys from `start` (included) to `end` (excluded). `prefixRange`, `singleKey` and `everything` make them. */
export interface KeyRange {
  readonly start: string;
  /** Absent: to the last key of all. */
  readonly end?: string;
}

export interface ReadOptions {
  /** Reads as of this revision. Rejects with `Compacted` if the revision was compacted, `FutureRevision` if it does not exist yet. */
  atRevision?: Revision;
}

export interface RangeOptions extends ReadOptions {
  /** At most this many entries; 0 or absent: all. */
  limit?: number;
  /** Leave out values (each entry's `value` is empty). */
  keysOnly?: boolean;
}

export interface GetResult {
  readonly entry: Entry | undefined;
  /** The store's revision that was read: current, or `atRevision`. */
  readonly revision: Revision;
}

export interface RangeResult {
  /** In key order. */
  readonly entries: readonly Entry[];
  readonly revision: Revision;
  /** There is at least one more entry behind the limit. */
  readonly more: boolean;
}

export interface RangeStatistics {
  readonly keys: number;
  /** Size of keys and values at the read revision, without history. */
  readonly bytes: number;
  readonly revision: Revision;
}

/**
 * One step of a transaction. `expected` is its condition: the key's modRevision must be exactly this, 0 meaning that
 * the key must be absent. One transaction names a key at most once.
 */
export type Write =
  | {
      readonly type: 'put';
      key: string;
      value: Uint8Array;
      expected?: Revision;
      lease?: LeaseId;
      /**
       * Gives the entry these revisions and this version, as if it had been written then. Reads, conditions and later versions use them;
       * history and watches use the revision of the transaction, which is at least `modRevision`. Drivers without it reject with `Unsupported`.
       */
      restored?: RestoredRevisions;
      /** The revision of the transaction is at least this: revisions between are skipped. Drivers without it reject with `Unsupported`. */
      revisionMin?: Revision;
    }
  | { readonly type: 'delete'; key: string; expected?: Revision }
  | { readonly type: 'deleteRange'; range: KeyRange }
  /** Only the condition. */
  | { readonly type: 'check'; key: string; expected: Revision };

/** Revisions of an entry that was first written to another store. */
export interface RestoredRevisions {
  /** From 1 to `modRevision`. */
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  /** At least 1. */
  readonly version: number;
}

export interface Committed {
  readonly committed: true;
  /** Revision of this transaction. The unchanged current revision if the transaction had no effect (it deleted no existing key). */
  readonly revision: Revision;
  /** Number of deleted keys. */
  readonly deleted: number;
}

export interface Conflicted {
  readonly committed: false;
  readonly revision: Revision;
  /** Current entry of each key whose condition failed. */
  readonly conflicts: readonly { readonly key: string; readonly entry: Entry | undefined }[];
}

export type CommitResult = Committed | Conflicted;

export type StoreEvent =
  | { readonly type: 'put'; readonly entry: Entry; readonly previous?: Entry }
  | { readonly type: 'delete'; readonly key: string; readonly previous?: Entry };

/** All events of one revision under the watched prefix; without events: a progress mark. */
export interface WatchBatch {
  readonly revision: Revision;
  readonly events: readonly StoreEvent[];
}

export interface WatchOptions {
  /** Keys that begin with this; the empty string watches everything. */
  prefix: string;
  /** First revision to watch. Absent: only transactions committed after the watch starts. */
  fromRevision?: Revision;
  /** Include in each event the entry that it replaced or deleted. */
  previous?: boolean;
}

/**
 * A running watch. It holds a bounded buffer: a consumer that falls behind is served from the history instead, and gets
 * `Compacted` when it falls behind that. Iterate it once; leaving the loop closes it.
 */
export interface Watch extends AsyncIterable<WatchBatch> {
  /** One call at a time. The next batch; undefined after `close`; rejects with `Compacted`, `Unavailable` or `Closed`, then stays rejected. */
  next(): Promise<WatchBatch | undefined>;
  /**
   * Requests a progress mark: a batch without events whose revision R promises that every event up to R was delivered before it. R is at
   * least the revision that was current when this was called. One mark may answer several requests. The mark for an earlier request may
   * come first, with a lower revision: compare revisions.
   */
  requestProgress(): void;
  close(): void;
}

export interface Lease {
  readonly id: LeaseId;
  readonly ttlMs: number;
}

/** A reader that needs the history after a revision for a longer time than usual. */
export interface HistoryHold {
  /** A later hold of the same holder replaces this one. */
  readonly holder: string;
  /** The history after it is kept. */
  readonly revision: Revision;
  /** The hold ends after this time. */
  readonly ttlMs: number;
}

export interface Store {
  /** Returns the current revision, which covers all acknowledged transactions. */
  revision(): Promise<Revision>;
  get(key: string, options?: ReadOptions): Promise<GetResult>;
  range(range: KeyRange, options?: RangeOptions): Promise<RangeResult>;
  statistics(range: KeyRange, options?: ReadOptions): Promise<RangeStatistics>;

  /** All of the writes or none; nothing when a condition fails. */
  commit(writes: readonly Write[]): Promise<CommitResult>;

  watch(options: WatchOptions): Watch;

  /**
   * Removes history: from now on, reads before `revision` and watches that begin before it reject with `Compacted`. A watch that begins
   * exactly there may be refused too, because the previous values are removed.
   */
  compact(revision: Revision): Promise<void>;

  /**
   * Keeps history beyond its usual age, within the limits of the store: `heldHistoryMsMax`, and the usual number of revisions. `compact` is not
   * affected. Absent: the store cannot hold history.
   */
  holdHistory?(hold: HistoryHold): void;

  /** Grants a lease. Its keys are deleted when it is revoked, or when it was not renewed for `ttlMs`. */
  grantLease(ttlMs: number): Promise<Lease>;
  /** Rejects with `LeaseNotFound` if it was revoked or has expired. */
  renewLease(id: LeaseId): Promise<void>;
  /** Returns the time until the lease expires unless it is renewed. Rejects with `LeaseNotFound` if it was revoked or has expired. */
  leaseTtlMs(id: LeaseId): Promise<number>;
  revokeLease(id: LeaseId): Promise<void>;

  /** Closes watches, waits for commits in progress, and releases all resources. Idempotent. */
  close(): Promise<void>;
}
