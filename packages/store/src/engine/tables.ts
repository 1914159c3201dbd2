/**
 * Interface between the engine and a storage of rows. Everything is synchronous, as SQLite and memory are: a step that reads, checks and
 * writes without an `await` has no races.
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
   * Returns rows in log order with `from ≤ revision ≤ to`, in the range, out of about `rowsMax` rows read. The following call starts at
   * `next`. A revision with many more rows than that is read in parts: see `HistoryRows`.
   */
  history(range: KeyRange, span: HistorySpan): HistoryRows;
  /** Returns the entry of a row that is live or past; undefined once compacted. */
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

/** Reads and writes rows inside a group that is not durable yet. */
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
  /** Removes the lease; its keys were deleted before. */
  removeLease(id: LeaseId): void;
  leasedKeys(id: LeaseId): string[];
  setCompactedRevision(revision: Revision): void;
  /**
   * Removes the rows that the next `rowsMax` rows of the log made obsolete, up to the compacted revision. Returns true if there are more. A
   * multi-row revision may straddle the compacted revision's last id: its remaining rows are removed with a later compaction.
   */
  removeObsolete(rowsMax: number): boolean;
}
