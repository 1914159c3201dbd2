/** The writer's side of the tables: runs in the writer's thread, inside the transaction of a group. */

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Entry, KeyRange, Lease, LeaseId, Revision } from '../../contract.ts';
import { entryOf, firstRevision } from '../../engine/rows.ts';
import type { LiveRow, Row } from '../../engine/rows.ts';
import type { TableWriter } from '../../engine/tables.ts';
import { checksumSeed, fieldsChecksum, rowChecksum } from './checksum.ts';
import type { ChecksumSeed } from './checksum.ts';
import { createdOf, formats, pragma, readCreated } from './schema.ts';
import type { Created } from './schema.ts';

type LiveArray = [number, Created, Revision, number, LeaseId | null];

export class SqliteWriter implements TableWriter {
  readonly #database: DatabaseSync;
  readonly #seed: ChecksumSeed;
  readonly #statements = new Map<string, StatementSync>();
  #newest = { id: firstRevision as number, revision: firstRevision };
  #format: unknown;
  readonly #live: StatementSync;
  readonly #append: StatementSync;
  readonly #addLive: StatementSync;
  readonly #moveLive: StatementSync;
  readonly #bury: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    const [storeId] = this.#prepare('SELECT store_id FROM meta').get() as unknown as [string];
    this.#seed = checksumSeed(storeId);
    this.#live = this.#prepare(
      'SELECT l.id, l.created, l.revision, l.version, l.lease FROM live v JOIN log l ON l.id = v.id WHERE v.key = ?',
    );
    this.#append = this.#prepare('INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
    this.#addLive = this.#prepare('INSERT INTO live VALUES (?, ?, ?)');
    this.#moveLive = this.#prepare('UPDATE live SET id = ?, bytes = ? WHERE key = ?');
    this.#bury = this.#prepare('INSERT INTO past VALUES (?, ?, ?)');
    this.refresh();
  }

  /** Reads the newest row and the format from the database: at the start, and after a group was rolled back. */
  refresh(): void {
    const row = this.#prepare('SELECT id, revision FROM log ORDER BY id DESC LIMIT 1').get() as unknown as
      | [number, Revision]
      | undefined;
    this.#newest = row ? { id: row[0], revision: row[1] } : { id: firstRevision, revision: firstRevision };
    this.#format = pragma(this.#database, 'user_version');
  }

  newestRevision(): Revision {
    return this.#newest.revision;
  }

  nextId(): number {
    return this.#newest.id + 1;
  }

  live(key: string): LiveRow | undefined {
    const row = this.#live.get(key) as unknown as LiveArray | undefined;
    return row && liveRow(key, row);
  }

  liveEntry(key: string): Entry | undefined {
    const live = this.live(key);
    if (!live) return undefined;
    const [value] = this.#prepare('SELECT value FROM log WHERE id = ?').get(live.id) as unknown as [Uint8Array];
    return entryOf({ ...live, revision: live.modRevision, value, previousId: 0 });
  }

  liveIn(range: KeyRange): LiveRow[] {
    const select =
      'SELECT v.key, l.id, l.created, l.revision, l.version, l.lease FROM live v JOIN log l ON l.id = v.id WHERE v.key >= ?';
    const rows =
      range.end === undefined
        ? this.#prepare(`${select} ORDER BY v.key`).all(range.start)
        : this.#prepare(`${select} AND v.key < ? ORDER BY v.key`).all(range.start, range.end);
    return (rows as unknown as [string, ...LiveArray][]).map(([key, ...row]) => liveRow(key, row));
  }

  append(row: Row, replaced: LiveRow | undefined): void {
    const { id, revision, key, value, version, lease, previousId } = row;
    if (row.modRevision !== undefined) this.#allowRestored();
    this.#append.run(
      id,
      revision,
      key,
      value ?? null,
      createdOf(row),
      version,
      lease ?? null,
      previousId,
      rowChecksum(this.#seed, row),
    );
    const bytes = value ? Buffer.byteLength(key) + value.length : 0;
    if (value && replaced) this.#moveLive.run(id, bytes, key);
    else if (value) this.#addLive.run(key, id, bytes);
    else this.#prepare('DELETE FROM live WHERE key = ?').run(key);
    if (replaced) this.#bury.run(key, replaced.id, revision);
    if (replaced?.lease !== undefined && replaced.lease !== lease) {
      this.#prepare('DELETE FROM leased WHERE lease = ? AND key = ?').run(replaced.lease, key);
    }
    if (lease !== undefined) this.#prepare('INSERT OR IGNORE INTO leased VALUES (?, ?)').run(lease, key);
    this.#newest = { id, revision };
  }

  /** In the transaction of the group: rolled back with it. */
  #allowRestored(): void {
    if (this.#format === formats.restored) return;
    this.#database.exec(`PRAGMA user_version = ${formats.restored}`);
    this.#format = formats.restored;
  }

  hasLease(id: LeaseId): boolean {
    return this.#prepare('SELECT 1 FROM lease WHERE id = ?').get(id) !== undefined;
  }

  addLease(lease: Lease): void {
    const checksum = fieldsChecksum(this.#seed, lease.id, lease.ttlMs);
    this.#prepare('INSERT INTO lease VALUES (?, ?, ?)').run(lease.id, lease.ttlMs, checksum);
  }

  removeLease(id: LeaseId): void {
    this.#prepare('DELETE FROM lease WHERE id = ?').run(id);
  }

  leasedKeys(id: LeaseId): string[] {
    const rows = this.#prepare('SELECT key FROM leased WHERE lease = ? ORDER BY key').all(id) as unknown as [string][];
    return rows.map(([key]) => key);
  }

  setCompactedRevision(revision: Revision): void {
    this.#compaction(revision, this.#obsolete().from);
  }

  #obsolete(): { compacted: number; from: number } {
    const [compacted, from] = this.#prepare('SELECT compacted, obsolete_from FROM meta').get() as unknown as [
      number,
      number,
    ];
    return { compacted, from };
  }

  #compaction(compacted: number, obsoleteFrom: number): void {
    const checksum = fieldsChecksum(this.#seed, compacted, obsoleteFrom);
    this.#prepare('UPDATE meta SET compacted = ?, obsolete_from = ?, checksum = ?').run(
      compacted,
      obsoleteFrom,
      checksum,
    );
  }

  removeObsolete(rowsMax: number): boolean {
    const { compacted, from } = this.#obsolete();
    if (from > compacted) return false;
    const next = Math.min(from + rowsMax, compacted + 1);
    const rows = this.#prepare(
      'SELECT id, key, previous, value IS NULL FROM log WHERE id >= ? AND id < ? AND (previous > 0 OR value IS NULL)',
    ).all(from, next) as unknown as [number, string, number, number][];
    const removeRow = this.#prepare('DELETE FROM log WHERE id = ?');
    const unbury = this.#prepare('DELETE FROM past WHERE key = ? AND id = ?');
    for (const [id, key, previous, isTombstone] of rows) {
      if (previous > 0) {
        unbury.run(key, previous);
        removeRow.run(previous);
      }
      // The newest row of all stays: it carries the current revision.
      if (isTombstone && id < this.#newest.id) removeRow.run(id);
    }
    const following = Math.min(this.#firstIdFrom(next) ?? Infinity, compacted + 1);
    this.#compaction(compacted, following);
    return following <= compacted;
  }

  /** Skipped revisions have no rows: without this, a compaction would take a step for each few hundred of them. */
  #firstIdFrom(id: number): number | undefined {
    const sql = 'SELECT id FROM log WHERE id >= ? ORDER BY id LIMIT 1';
    return (this.#prepare(sql).get(id) as unknown as [number] | undefined)?.[0];
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#database.prepare(sql);
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

function liveRow(key: string, [id, created, revision, version, lease]: LiveArray): LiveRow {
  const { createRevision, modRevision = revision } = readCreated(created);
  return { id, key, createRevision, modRevision, version, lease: lease ?? undefined };
}
