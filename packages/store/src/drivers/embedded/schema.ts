/**
 * The file format of the embedded driver: the three tables of `engine/rows.ts` in SQLite, and leases.
 *
 * `log` is append-only, so values are written once, in order, next to each other; the tables in key order hold only
 * numbers. A single table with values in key order was measured at a third of the throughput.
 */

import type { DatabaseSync } from 'node:sqlite';

export const databaseName = 'store.db';
export const formatVersion = 1;
/** "HNGR": tells our files from other SQLite databases. */
const applicationId = 0x484e4752;

export const schema = `
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${formatVersion};
  CREATE TABLE log (
    id INTEGER PRIMARY KEY,
    revision INTEGER NOT NULL,
    key TEXT NOT NULL,
    value BLOB,
    created INTEGER NOT NULL,
    version INTEGER NOT NULL,
    lease TEXT,
    previous INTEGER NOT NULL,
    checksum INTEGER NOT NULL
  );
  CREATE TABLE live (key TEXT PRIMARY KEY, id INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE past (key TEXT, id INTEGER, dead INTEGER NOT NULL, PRIMARY KEY (key, id)) WITHOUT ROWID;
  CREATE TABLE lease (id TEXT PRIMARY KEY, ttl_ms INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE leased (lease TEXT, key TEXT, PRIMARY KEY (lease, key)) WITHOUT ROWID;
  CREATE TABLE meta (store_id TEXT NOT NULL, compacted INTEGER NOT NULL, obsolete_from INTEGER NOT NULL);
`;

/** What every connection needs; the writer adds what only it does. */
export function configure(database: DatabaseSync, cacheBytes: number): void {
  database.exec(
    `PRAGMA cache_size = -${Math.ceil(cacheBytes / 1024)}; PRAGMA temp_store = MEMORY; PRAGMA busy_timeout = 5000;`,
  );
}

/** `FULL` makes a commit durable before it returns; the checkpoint bounds the journal file. */
export function configureWriter(database: DatabaseSync, cacheBytes: number): void {
  configure(database, cacheBytes);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;');
}

export function isOurs(database: DatabaseSync): boolean {
  return pragma(database, 'application_id') === applicationId;
}

export function pragma(database: DatabaseSync, name: string): number | string {
  const row = database.prepare(`PRAGMA ${name}`).get() as Record<string, number | string>;
  return Object.values(row)[0]!;
}
