/**
 * What the engine needs of a place that keeps rows. Everything is synchronous: SQLite is, memory is, and a step that
 * reads, checks and writes without an `await` cannot be raced.
 */

import type { Entry, KeyRange, Lease, LeaseId, Revision } from '../contract.ts';
import type { LiveRow, Row } from './rows.ts';

/** Sees durable rows only. */
export interface TableReader {
  /** The newest durable revision. */
  revision(): Revision;
  get(key: string, at: Revision | undefined): { entry: Entry | undefined; revision: Revision };
  /** Up to `limit` entries from the start of the range. */
  range(range: KeyRange, options: TableRangeOptions): { entries: Entry[]; revision: Revision };
  statistics(range: KeyRange, at: Revision | undefined): { keys: number; bytes: number; revision: Revision };
  /**
   * Rows in log order with `from ≤ revision ≤ to`, in the range, out of about `rowsMax` rows looked at. `next` is where the
   * following call goes on. A revision with many more rows than that is read in parts: see `HistoryRows`.
   */
  history(range: KeyRange, span: HistorySpan): HistoryRows;
  /** The entry of a row that is live or past; undefined once compacted. */
  entryById(id: number): Entry | undefined;
  leases(): Lease[];
  compactedRevision(): Revision;
}

export interface HistorySpan {
  readonly from: Revision;
  readonly to: Revision;
  readonly rowsMax: number;
  /** Only rows after this id, of an unfinished revision, which `to` must name. */
  readonly afterId?: number;
}

export interface HistoryRows {
  readonly rows: readonly Row[];
  readonly next: Revision;
  /** The rows end within this revision, at the row with this id. Read its remaining rows before `next`. */
  readonly unfinished?: { readonly id: number; readonly revision: Revision } | undefined;
}

export interface TableRangeOptions {
  at: Revision | undefined;
  limit: number;
  keysOnly: boolean;
}

/** Sees and makes rows inside a group that is not durable yet. */
export interface TableWriter {
  newestRevision(): Revision;
  /** The id of the row to be written next. */
  nextId(): number;
  live(key: string): LiveRow | undefined;
  liveEntry(key: string): Entry | undefined;
  liveIn(range: KeyRange): LiveRow[];
  /** Adds a row to the log and moves its predecessor from `live` to `past`. */
  append(row: Row, replaced: LiveRow | undefined): void;
  hasLease(id: LeaseId): boolean;
  addLease(lease: Lease): void;
  /** Forgets the lease; its keys were deleted before. */
  removeLease(id: LeaseId): void;
  leasedKeys(id: LeaseId): string[];
  setCompactedRevision(revision: Revision): void;
  /**
   * Removes what the next `rowsMax` rows of the log made obsolete, up to the compacted revision; true when there is more.
   * A multi-row revision may straddle the compacted revision's last id: what it left is removed with a later compaction.
   */
  removeObsolete(rowsMax: number): boolean;
}
