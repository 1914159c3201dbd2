/**
 * What is looked at before a store is opened: a data directory that is not whole is refused with the name of the file
 * and what to do, and never taken for an empty one.
 */

import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readMark } from './acknowledged.ts';
import { rowChecksum } from './checksum.ts';
import { formatVersion, isOurs, pragma } from './schema.ts';
import { damaged, fromSqlite } from './sqlite-errors.ts';
import type { Revision } from '../../contract.ts';
import { StoreError } from '../../errors.ts';

export interface DataFiles {
  directory: string;
  database: string;
  journal: string;
  mark: string;
}

export function dataFiles(directory: string): DataFiles {
  return {
    directory,
    database: join(directory, 'store.db'),
    journal: join(directory, 'store.db-wal'),
    mark: join(directory, 'acknowledged'),
  };
}

/** True when there is a store to open, false when the directory has never held one; throws `StorageDamaged`. */
export function holdsStore(files: DataFiles): boolean {
  const size = existsSync(files.database) ? statSync(files.database).size : 0;
  if (size > 0) return true;
  const leftovers = [files.journal, files.mark].filter((path) => existsSync(path));
  if (leftovers.length === 0 && !existsSync(files.database)) return false;
  throw damaged(
    files.database,
    size === 0 && existsSync(files.database) ? 'it is empty' : `it is missing beside ${leftovers.join(' and ')}`,
  );
}

export interface InspectionOptions {
  /** Databases up to this size are read whole; larger ones are checked row by row as they are read. */
  verifyBytesMax: number;
}

/** Opens the database, which applies what a crash left in the journal, and proves that it is whole. Returns the store's id. */
export function inspect(files: DataFiles, options: InspectionOptions): string {
  checkSize(files);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(files.database);
    if (!isOurs(database)) throw damaged(files.database, 'it is not a Hangar store');
    const version = pragma(database, 'user_version');
    if (version !== formatVersion) {
      throw new StoreError(
        'StorageDamaged',
        `${files.database} has format ${version}, this program reads format ${formatVersion}: use the version of Hangar that wrote it`,
      );
    }
    const [storeId, revision] = identity(database);
    checkMark(files, storeId, revision);
    if (statSync(files.database).size <= options.verifyBytesMax) verify(database, files.database);
    return storeId;
  } catch (error) {
    throw fromSqlite(error, files.database);
  } finally {
    database?.close();
  }
}

/** Without a journal the header's page count must fit; with one, SQLite completes the file from it. */
function checkSize(files: DataFiles): void {
  const size = statSync(files.database).size;
  if (existsSync(files.journal) && statSync(files.journal).size > 0) return;
  const database = readHeader(files.database);
  const pageBytes = database.readUInt16BE(16) === 1 ? 65_536 : database.readUInt16BE(16);
  const expected = database.readUInt32BE(28) * pageBytes;
  if (size < expected) throw damaged(files.database, `it is truncated: ${size} of ${expected} bytes`);
}

function readHeader(path: string): Buffer {
  const header = Buffer.alloc(100);
  const descriptor = openSync(path, 'r');
  try {
    if (readSync(descriptor, header) < header.length) throw damaged(path, 'it is truncated');
  } finally {
    closeSync(descriptor);
  }
  if (header.toString('latin1', 0, 16) !== 'SQLite format 3\0')
    throw damaged(path, 'it does not begin like a database');
  return header;
}

function identity(database: DatabaseSync): [string, Revision] {
  const row = database
    .prepare('SELECT store_id AS id, (SELECT revision FROM log ORDER BY log.id DESC LIMIT 1) AS revision FROM meta')
    .get() as { id: string; revision: Revision | null } | undefined;
  if (!row) throw new Error('the table meta is empty');
  return [row.id, row.revision ?? (1 as Revision)];
}

function checkMark(files: DataFiles, storeId: string, revision: Revision): void {
  const mark = readMark(files.mark);
  if (!mark) return;
  if (mark.storeId !== storeId) {
    throw damaged(
      files.database,
      `it belongs to another store than ${files.mark}: the files of two data directories were mixed`,
    );
  }
  if (revision < mark.revision) {
    throw damaged(
      files.journal,
      `revisions ${revision + 1} to ${mark.revision} were acknowledged and are missing: the file was truncated, removed or overwritten`,
    );
  }
}

/** Structure by SQLite, content by our checksums, and that the tables agree with each other. */
function verify(database: DatabaseSync, path: string): void {
  const problem = pragma(database, 'quick_check(1)');
  if (problem !== 'ok') throw damaged(path, String(problem));
  for (const row of database.prepare('SELECT id, revision, key, value, checksum FROM log').iterate()) {
    const { checksum, ...content } = row as unknown as Parameters<typeof rowChecksum>[0] & { checksum: number };
    if (rowChecksum(content) !== checksum) {
      throw damaged(path, `the checksum of ${JSON.stringify(content.key)} at revision ${content.revision} is wrong`);
    }
  }
  const strays = database
    .prepare(
      'SELECT count(*) AS n FROM live v LEFT JOIN log l ON l.id = v.id WHERE l.id IS NULL OR l.key <> v.key OR l.value IS NULL',
    )
    .get() as { n: number };
  if (strays.n > 0) throw damaged(path, `${strays.n} keys have lost their values`);
}
