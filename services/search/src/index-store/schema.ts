/**
 * Tables of the index: one SQLite database for each generation.
 *
 *     cells      (cluster, group, resource, namespace): the unit of authorization
 *     documents  one row for each object, with the text for snippets
 *     words      FTS5 without content; its rowid is the id of the document
 *     grants     objects that rules of roles name, by role
 *     progress   the revision up to which each resource is complete
 *     meta       key of cursors, state of the generation
 */

import type { DatabaseSync } from 'node:sqlite';

/** A database with another version is built again. */
export const schemaVersion = 1;

/** KiB of memory for pages, for each connection. */
const cacheKib = 32 * 1024;

const pragmas = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA busy_timeout = 5000;
  PRAGMA cache_size = -${cacheKib};
  PRAGMA temp_store = MEMORY;
  PRAGMA journal_size_limit = 67108864;
  PRAGMA wal_autocheckpoint = 4000;
`;

const tables = `
  CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS cells (
    id INTEGER PRIMARY KEY, cluster TEXT NOT NULL, grp TEXT NOT NULL, resource TEXT NOT NULL, namespace TEXT NOT NULL,
    UNIQUE (grp, resource, cluster, namespace)
  );
  CREATE TABLE IF NOT EXISTS documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT, cell INTEGER NOT NULL, name TEXT NOT NULL, uid TEXT NOT NULL, version TEXT NOT NULL,
    api TEXT NOT NULL, kind TEXT NOT NULL, labels TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (cell, name)
  );
  CREATE TABLE IF NOT EXISTS grants (
    document INTEGER NOT NULL, cluster TEXT NOT NULL, namespace TEXT NOT NULL, grp TEXT NOT NULL, resource TEXT NOT NULL,
    name TEXT NOT NULL, PRIMARY KEY (cluster, name, resource, grp, namespace, document)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS grants_of ON grants (document);
  CREATE INDEX IF NOT EXISTS grants_in ON grants (cluster, resource, grp, namespace);
  CREATE TABLE IF NOT EXISTS progress (resource TEXT PRIMARY KEY, revision TEXT NOT NULL) WITHOUT ROWID;
  CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (
    terms, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
  );
`;

/** Opens the tables of a writer. Throws if the file is not a database of this version. */
export function configureWriter(database: DatabaseSync): void {
  database.exec(pragmas);
  const { user_version: version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  if (version !== 0 && version !== schemaVersion) throw new Error(`the index has version ${version}`);
  database.exec(tables);
  database.exec(`PRAGMA user_version = ${schemaVersion}`);
}

export function configureReader(database: DatabaseSync): void {
  database.exec(`PRAGMA query_only = ON; PRAGMA busy_timeout = 5000; PRAGMA cache_size = -${cacheKib};`);
}
