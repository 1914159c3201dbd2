/**
 * Reads on the main thread: a separate connection that sees the last durable commit while the writer thread makes the next one. A read
 * takes microseconds, less than a message to another thread.
 */

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Entry, KeyRange, Lease, LeaseId, Revision } from '../../contract.ts';
import { entryOf, firstRevision } from '../../engine/rows.ts';
import type { Row } from '../../engine/rows.ts';
import type { HistoryRows, HistorySpan, TableRangeOptions, TableReader } from '../../engine/tables.ts';
import { checksumSeed } from './checksum.ts';
import type { ChecksumSeed } from './checksum.ts';
import { readCreated } from './schema.ts';
import type { Created } from './schema.ts';
import { damaged, fromSqlite } from './sqlite-errors.ts';
import { checkLease, checkRow } from './verify.ts';

/**
 * A row by way of the table that was searched: `live`, `past`, or the log itself. Id and key are taken from there and the rest from the log
 * by an outer join, so that the row's checksum also proves that the two belong together, and a row that the log has lost is damage, not an
 * absence.
 */
const columns = (table: string) =>
  `${table}.id, l.revision, ${table}.key, l.value, l.created, l.version, l.lease, l.previous, l.checksum`;
const keyColumns = (table: string) =>
  `${table}.id, l.revision, ${table}.key, NULL, l.created, l.version, l.lease, l.previous, NULL`;
const newest = 'SELECT revision FROM log ORDER BY id DESC LIMIT 1';

type RowArray = [number, Revision, string, Uint8Array | null, Created, number, LeaseId | null, number, number | null];

export class SqliteReader implements TableReader {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #seed: ChecksumSeed;
  readonly #statements = new Map<string, StatementSync>();
  readonly #get: StatementSync;
  readonly #newest: StatementSync;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
    const [storeId] = this.#first(this.#prepare('SELECT store_id FROM meta')) as [string];
    this.#seed = checksumSeed(storeId);
    this.#newest = this.#prepare(newest);
    // One statement is one snapshot: the newest revision and the entry belong together.
    this.#get = this.#prepare(
      `SELECT n.revision, ${columns('v')} FROM (${newest}) n LEFT JOIN live v ON v.key = ? LEFT JOIN log l ON l.id = v.id`,
    );
  }

  revision(): Revision {
    return (this.#first(this.#newest) as [Revision] | undefined)?.[0] ?? firstRevision;
  }

  get(key: string, at: Revision | undefined): { entry: Entry | undefined; revision: Revision } {
    if (at !== undefined) {
      const [entry] = this.#entriesAt({ start: key, end: `${key}\u0000` }, { at, limit: 1, keysOnly: false });
      return { entry, revision: at };
    }
    const found = this.#first(this.#get, key) as [Revision, ...RowArray] | undefined;
    if (!found) return { entry: undefined, revision: firstRevision };
    const [revision, ...row] = found;
    return { entry: row[0] === null ? undefined : entryOf(this.#checked(row)), revision };
  }

  range(range: KeyRange, options: TableRangeOptions): { entries: Entry[]; revision: Revision } {
    if (options.at !== undefined) {
      return { entries: this.#entriesAt(range, { ...options, at: options.at }), revision: options.at };
    }
    return this.#snapshot((revision) => {
      const what = (options.keysOnly ? keyColumns : columns)('v');
      const sql = `SELECT ${what} FROM live v LEFT JOIN log l ON l.id = v.id
        WHERE ${within('v', range)} ORDER BY v.key LIMIT ?`;
      return { entries: this.#entries(sql, [...bounds(range), limitOf(options)], options.keysOnly), revision };
    });
  }

  statistics(range: KeyRange, at: Revision | undefined): { keys: number; bytes: number; revision: Revision } {
    return this.#snapshot((revision) => {
      const result =
        at === undefined
          ? this.#first(
              this.#prepare(`SELECT count(*), ifnull(sum(bytes), 0) FROM live v WHERE ${within('v', range)}`),
              ...bounds(range),
            )
          : this.#first(
              this.#prepare(`SELECT count(*), ifnull(sum(length(CAST(key AS BLOB)) + length(value)), 0)
                FROM (${visibleAt((table) => `${table}.key, l.value`, range)})`),
              ...boundsAt(range, at),
            );
      const [keys, bytes] = result as [number, number];
      return { keys, bytes, revision };
    });
  }

  history(range: KeyRange, span: HistorySpan): HistoryRows {
    return this.#snapshot(() => {
      const { to, rowsMax, afterId } = span;
      const from = Math.max(span.from, firstRevision + 1) as Revision;
      // Starts behind the rows of a revision before `from`, whose ids may extend beyond its number.
      const start = afterId === undefined ? (this.#firstOf(from)?.id ?? from) : afterId + 1;
      const cut = afterId === undefined ? this.#firstOf((start + rowsMax) as Revision) : undefined;
      const end = cut && cut.revision <= to ? cut : this.#firstOf((to + 1) as Revision);
      const next = Math.min(end?.revision ?? Infinity, to + 1) as Revision;
      // Beyond `rowsMax` there are only rows of the revision that begins before that.
      const unfinished = this.#rowBefore(start + 2 * rowsMax, end?.id ?? this.#newestId() + 1);
      const endId = unfinished ? unfinished.id + 1 : (end?.id ?? Number.MAX_SAFE_INTEGER);
      const sql = `SELECT ${columns('l')} FROM log l
        WHERE l.id >= ? AND l.id < ? AND l.revision >= ? AND ${within('l', range)} ORDER BY l.id`;
      const rows = this.#all(this.#prepare(sql), start, endId, from, ...bounds(range));
      return { rows: rows.map((row) => this.#checked(row)), next, unfinished };
    });
  }

  /** The last row before an id, if there is another one between that and the end. */
  #rowBefore(id: number, endId: number): HistoryRows['unfinished'] {
    const rest = this.#prepare('SELECT 1 FROM log WHERE id >= ? AND id < ? LIMIT 1');
    // Revisions that were skipped have no rows.
    if (id >= endId || !this.#first(rest, id, endId)) return undefined;
    const sql = 'SELECT id, revision FROM log WHERE id < ? ORDER BY id DESC LIMIT 1';
    const row = this.#first(this.#prepare(sql), id) as [number, Revision] | undefined;
    return row && { id: row[0], revision: row[1] };
  }

  #newestId(): number {
    const row = this.#first(this.#prepare('SELECT max(id) FROM log')) as [number | null] | undefined;
    return row?.[0] ?? 0;
  }

  /** The first row of the first revision that is not before this one. A revision's ids begin at the revision. */
  #firstOf(revision: Revision): { id: number; revision: Revision } | undefined {
    const sql = 'SELECT id, revision FROM log WHERE id >= ? AND revision >= ? ORDER BY id LIMIT 1';
    const row = this.#first(this.#prepare(sql), revision, revision) as [number, Revision] | undefined;
    return row && { id: row[0], revision: row[1] };
  }

  entryById(id: number): Entry | undefined {
    const row = this.#first(this.#prepare(`SELECT ${columns('l')} FROM log l WHERE l.id = ?`), id) as
      | RowArray
      | undefined;
    return row && row[3] !== null ? entryOf(this.#checked(row)) : undefined;
  }

  leases(): Lease[] {
    const rows = this.#all(this.#prepare('SELECT id, ttl_ms, checksum FROM lease'));
    return (rows as unknown as [LeaseId, number, number][]).map(([id, ttlMs, checksum]) => {
      checkLease({ id, ttlMs }, { seed: this.#seed, checksum, path: this.#path });
      return { id, ttlMs };
    });
  }

  compactedRevision(): Revision {
    return (this.#first(this.#prepare('SELECT compacted FROM meta')) as [Revision])[0];
  }

  #entriesAt(range: KeyRange, options: TableRangeOptions & { at: Revision }): Entry[] {
    const sql = `${visibleAt(options.keysOnly ? keyColumns : columns, range)} ORDER BY 3 LIMIT ?`;
    return this.#entries(sql, [...boundsAt(range, options.at), limitOf(options)], options.keysOnly);
  }

  #entries(sql: string, parameters: SQLInputValue[], keysOnly: boolean): Entry[] {
    const rows = this.#all(this.#prepare(sql), ...parameters);
    return rows.map((row) => entryOf(keysOnly ? this.#present(row) : this.#checked(row), keysOnly));
  }

  #checked(array: RowArray): Row {
    const row = rowOf(array);
    checkRow(row, { seed: this.#seed, checksum: array[8], path: this.#path });
    return row;
  }

  /** Without the value there is no checksum, but there must be a row. */
  #present(array: RowArray): Row {
    if (array[1] === null) throw damaged(this.#path, `the log has no row for ${JSON.stringify(array[2])}`);
    return rowOf(array);
  }

  /** Runs several statements on one state of the database. */
  #snapshot<T>(read: (revision: Revision) => T): T {
    this.#first(this.#prepare('BEGIN'));
    try {
      return read(this.revision());
    } finally {
      // SQLite may have rolled back already because of the error.
      if (this.#database.isTransaction) this.#first(this.#prepare('COMMIT'));
    }
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#translated(() => this.#database.prepare(sql));
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #first(statement: StatementSync, ...parameters: SQLInputValue[]): unknown[] | undefined {
    return this.#translated(() => statement.get(...parameters) as unknown as unknown[] | undefined);
  }

  #all(statement: StatementSync, ...parameters: SQLInputValue[]): RowArray[] {
    return this.#translated(() => statement.all(...parameters) as unknown as RowArray[]);
  }

  #translated<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw fromSqlite(error, this.#path);
    }
  }
}

function rowOf([id, revision, key, value, created, version, lease, previousId]: RowArray): Row {
  const { createRevision, modRevision } = readCreated(created);
  return {
    id,
    revision,
    key,
    value: value ?? undefined,
    createRevision,
    modRevision,
    version,
    lease: lease ?? undefined,
    previousId,
  };
}

function within(table: string, range: KeyRange): string {
  return range.end === undefined ? `${table}.key >= ?` : `${table}.key >= ? AND ${table}.key < ?`;
}

function bounds(range: KeyRange): string[] {
  return range.end === undefined ? [range.start] : [range.start, range.end];
}

/** Live rows that are old enough, and past rows that were replaced only later: see `engine/rows.ts`. */
function visibleAt(what: (table: string) => string, range: KeyRange): string {
  const isOldEnough = 'ifnull(l.revision, 0) <= ?'; // a lost row must be noticed at any revision
  return `SELECT ${what('v')} FROM live v LEFT JOIN log l ON l.id = v.id WHERE ${within('v', range)} AND ${isOldEnough}
    UNION ALL
    SELECT ${what('p')} FROM past p LEFT JOIN log l ON l.id = p.id
      WHERE ${within('p', range)} AND p.dead > ? AND ${isOldEnough}`;
}

function boundsAt(range: KeyRange, at: Revision): (string | number)[] {
  return [...bounds(range), at, ...bounds(range), at, at];
}

/** SQLite takes −1 for "no limit". */
function limitOf(options: TableRangeOptions): number {
  return Number.isFinite(options.limit) ? options.limit : -1;
}
