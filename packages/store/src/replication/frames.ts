/**
 * Frames that replicate a key range: the state at one revision, then every later transaction in order. A replica has the same keys,
 * values, revisions, versions and leases as its source, so that a resourceVersion means the same on both.
 *
 *     entry entry … snapshot(100) batch(103) progress(110) batch(112) …
 *
 * `place`, `entries` and `after` locate a frame in its stream. `replicaFrames` always sets them; `ReplicaWriter` requires them, so that frames
 * of repeated, lost or reordered requests are skipped or refused.
 */

import type { LeaseId, Revision } from '../contract.ts';

export interface ReplicaEntry {
  /** Below the prefix of the range. */
  readonly key: string;
  readonly value: Uint8Array;
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  readonly version: number;
  readonly lease?: ReplicaLease | undefined;
}

export interface ReplicaLease {
  readonly id: LeaseId;
  /** Time until the lease expires, when the frame was sent. */
  readonly ttlMs: number;
}

export type ReplicaFrame =
  /** An entry of the snapshot; in key order. */
  | { readonly type: 'entry'; readonly entry: ReplicaEntry; readonly place?: SnapshotPlace | undefined }
  /** All entries were sent: they are the state at this revision. */
  | { readonly type: 'snapshot'; readonly revision: Revision; readonly entries?: number | undefined }
  /** All changes of one later transaction. The entries have this modRevision. */
  | {
      readonly type: 'batch';
      readonly revision: Revision;
      /** Revision of the snapshot, batch or progress frame before this one. */
      readonly after?: Revision | undefined;
      readonly puts: readonly ReplicaEntry[];
      readonly deletes: readonly string[];
    }
  /** All changes up to this revision were sent. */
  | { readonly type: 'progress'; readonly revision: Revision; readonly after?: Revision | undefined };

export interface SnapshotPlace {
  /** Revision of the snapshot that the entry belongs to. */
  readonly snapshot: Revision;
  /** Number of entries before this one. */
  readonly index: number;
}

/** Summary of a range at a revision. Equal digests: equal keys, values, create and mod revisions and versions. */
export interface ReplicaDigest {
  readonly revision: Revision;
  readonly entries: number;
  /** SHA-256 in hexadecimal. */
  readonly digest: string;
}
