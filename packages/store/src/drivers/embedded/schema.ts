/**
 * The file format of the embedded driver: the three tables of `engine/rows.ts` in SQLite, and leases.
 *
 * `log` is append-only, so values are written once, in order, next to each other; the tables in key order hold only numbers. A single table
 * with values in key order was measured at a third of the throughput.
 *
 * Rows in which a flipped bit could not be detected from other rows carry a checksum; `verify.ts` derives the rest from `log`.
 *
 * Restored rows: `created` is the text `createRevision modRevision` instead of a number, so that other rows need no space for it. The first
 * such row changes the format from 1 to 2, which earlier versions of Hangar refuse to open.
 */

import type { DatabaseSync } from 'node:sqlite';
import type { Revision } from '../../contract.ts';
import type { Row } from '../../engine/rows.ts';

export const formats = { plain: 1, restored: 2 } as const;
/** "HNGR": distinguishes these files from other SQLite databases. */
const applicationId = 0x484e4752;

const tables = {
  log: `CREATE TABLE log (
    id INTEGER PRIMARY KEY,
    revision INTEGER NOT NULL,
    key TEXT NOT NULL,
    value BLOB,
    created INTEGER NOT NULL,
    version INTEGER NOT NULL,
    lease TEXT,
    previous INTEGER NOT NULL,
    checksum INTEGER NOT NULL
  )`,
  live: 'CREATE TABLE live (key TEXT PRIMARY KEY, id INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID',
  past: 'CREATE TABLE past (key TEXT, id INTEGER, dead INTEGER NOT NULL, PRIMARY KEY (key, id)) WITHOUT ROWID',
  lease: 'CREATE TABLE lease (id TEXT PRIMARY KEY, ttl_ms INTEGER NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID',
  leased: 'CREATE TABLE leased (lease TEXT, key TEXT, PRIMARY KEY (lease, key)) WITHOUT ROWID',
  meta: `CREATE TABLE meta (
    store_id TEXT NOT NULL,
    compacted INTEGER NOT NULL,
    obsolete_from INTEGER NOT NULL,
    checksum INTEGER NOT NULL
  )`,
};

export const schema = `
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${formats.plain};
  ${Object.values(tables).join(';\n')};
`;

/** Value of the column `created`. */
export type Created = Revision | string;

export function createdOf({ createRevision, modRevision }: Pick<Row, 'createRevision' | 'modRevision'>): Created {
  return modRevision === undefined ? createRevision : `${createRevision} ${modRevision}`;
}

/** A text that `createdOf` does not write becomes NaN, which no checksum matches. */
export function readCreated(created: Created): { createRevision: Revision; modRevision: Revision | undefined } {
  if (typeof created !== 'string') return { createRevision: created, modRevision: undefined };
  const [createRevision, modRevision] = created.split(' ').map(Number) as [Revision, Revision];
  const isExact = createdOf({ createRevision, modRevision }) === created;
  return { createRevision, modRevision: isExact ? modRevision : (NaN as Revision) };
}

/** Settings of every connection. `configureWriter` adds those of the writer. */
export function configure(database: DatabaseSync, cacheBytes: number): void {
  database.exec(
    `PRAGMA cache_size = -${Math.ceil(cacheBytes / 1024)}; PRAGMA temp_store = MEMORY; PRAGMA busy_timeout = 5000;`,
  );
}

/** Number of pages (16 MiB) at which the journal file is moved into the database. Bounds the file. */
export const defaultCheckpointPages = 4_000;

/** `FULL` makes a commit durable before it returns. */
export function configureWriter(
  database: DatabaseSync,
  cacheBytes: number,
  checkpointPages = defaultCheckpointPages,
): void {
  configure(database, cacheBytes);
  database.exec(
    `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${checkpointPages};`,
  );
}

export function isOurs(database: DatabaseSync): boolean {
  return pragma(database, 'application_id') === applicationId;
}

/** Returns the name of the first table that is not one of those above. */
export function strangeTable(database: DatabaseSync): string | undefined {
  const rows = database.prepare('SELECT type, name, sql FROM sqlite_schema').all();
  const found = new Map(rows.map(({ type, name, sql }) => [`${type} ${name}`, sql]));
  for (const [name, sql] of Object.entries(tables)) {
    if (found.get(`table ${name}`) !== sql) return name;
    found.delete(`table ${name}`);
  }
  return found.size > 0 ? [...found.keys()].join() : undefined;
}

export function pragma(database: DatabaseSync, name: string): number | string {
  const row = database.prepare(`PRAGMA ${name}`).get() as Record<string, number | string>;
  return Object.values(row)[0]!;
}
