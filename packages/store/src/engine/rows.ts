/**
 * How history is kept: three tables, the same in memory and in SQLite.
 *
 *     log   id → row        every write in order; `id` is the transaction's revision plus the write's place in it
 *     live  key → id        the newest row of each key that exists
 *     past  key, id → dead  rows that were replaced or deleted, and the revision that did so
 *
 * An entry is visible at revision R when its row is live and not newer than R, or past with revision ≤ R < dead. After
 *
 *     1: put a   2: put b   3: put a   4: delete b
 *
 *     log   1 a   2 b   3 a (previous 1)   4 b † (previous 2)
 *     live  a → 3
 *     past  a,1 dead 3      b,2 dead 4
 *
 * Reading at 3 finds `a` live (3 ≤ 3) and `b` past (2 ≤ 3 < 4). Compacting to 4 walks the log from the last compaction: row 3 names its
 * predecessor 1, row 4 its predecessor 2; both are removed from `past` and `log`, and so is the tombstone 4 (unless it is the newest row of
 * all, which stays: it carries the current revision). Nothing is scanned.
 *
 * Because ids grow by the number of writes, `id ≥ R` finds a revision's first row directly and revisions may have gaps.
 *
 * A restored row has the revision of its transaction like any other, and states an earlier modRevision, which only its entry shows:
 *
 *     5: put c, restored at 2      log   5 c (modRevision 2)      visible from 5 on, as c@2
 */

import type { Entry, LeaseId, Revision } from '../contract.ts';

export interface Row {
  readonly id: number;
  readonly revision: Revision;
  readonly key: string;
  /** Undefined: a tombstone. */
  readonly value: Uint8Array | undefined;
  readonly createRevision: Revision;
  /** Of a restored entry. Undefined: `revision`. */
  readonly modRevision?: Revision | undefined;
  readonly version: number;
  readonly lease: LeaseId | undefined;
  /** The row that this one replaced; 0 for none. */
  readonly previousId: number;
}

/** The newest row of a key, without its value. */
export interface LiveRow {
  readonly id: number;
  readonly key: string;
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  readonly version: number;
  readonly lease: LeaseId | undefined;
}

export function entryOf(row: Row, keysOnly = false): Entry {
  return {
    key: row.key,
    value: keysOnly || !row.value ? noBytes : row.value,
    createRevision: row.createRevision,
    modRevision: row.modRevision ?? row.revision,
    version: row.version,
    lease: row.lease,
  };
}

export const noBytes = new Uint8Array();

/** The revision of an empty store, as in etcd. Not 0, which has a special meaning for clients. */
export const firstRevision = 1 as Revision;
