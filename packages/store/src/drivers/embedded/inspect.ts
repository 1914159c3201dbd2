/**
 * Checks a data directory before a store is opened. An incomplete directory is refused with the name of the file and the remedy, and never
 * treated as empty. The check is read-only: a damaged directory stays as it is for the rescue.
 */

import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Revision } from '../../contract.ts';
import { StoreError } from '../../errors.ts';
import { readMark } from './acknowledged.ts';
import { checksumSeed, fieldsChecksum } from './checksum.ts';
import { formats, isOurs, pragma, strangeTable } from './schema.ts';
import { damaged, whileOpening } from './sqlite-errors.ts';
import { verify } from './verify.ts';
import { scanWal } from './wal-scan.ts';
import type { WalScan } from './wal-scan.ts';

export interface DataFiles {
  directory: string;
  database: string;
  /** The write-ahead log: the commits since the last checkpoint. */
  journal: string;
  mark: string;
  /** SQLite would replay it into the database. This driver never leaves one. */
  rollbackJournal: string;
}

export function dataFiles(directory: string): DataFiles {
  return {
    directory,
    database: join(directory, 'store.db'),
    journal: join(directory, 'store.db-wal'),
    mark: join(directory, 'acknowledged'),
    rollbackJournal: join(directory, 'store.db-journal'),
  };
}

/** Returns undefined if the file is absent. Not `existsSync`, which reports a failing disk as an absent file. */
function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/** Returns true if there is a store to open, false if the directory has never held one. Throws `StorageDamaged`. */
export function holdsStore(files: DataFiles): boolean {
  const size = sizeOf(files.database);
  if (size !== undefined && size > 0) return true;
  const leftovers = [files.journal, files.mark].filter((path) => sizeOf(path) !== undefined);
  if (leftovers.length === 0 && size === undefined) return false;
  throw damaged(
    files.database,
    size === undefined ? `it is missing, but ${leftovers.join(' and ')} exists` : 'it is empty',
  );
}

export interface InspectionOptions {
  /** Databases up to this size are read whole; larger ones are checked row by row as they are read. */
  verifyBytesMax: number;
}

/** Verifies that the store is complete. Returns its id. */
export function inspect(files: DataFiles, options: InspectionOptions): string {
  let database: DatabaseSync | undefined;
  try {
    checkFiles(files);
    database = new DatabaseSync(files.database, { readOnly: true });
    checkFormat(database, files.database);
    const { storeId, revision } = identity(database, files.database);
    checkMark(files, storeId, revision);
    if (statSync(files.database).size <= options.verifyBytesMax) {
      verify(database, files.database, checksumSeed(storeId));
    }
    return storeId;
  } catch (error) {
    throw whileOpening(error, files.database);
  } finally {
    database?.close();
  }
}

/** Checks the files before SQLite interprets them. */
function checkFiles(files: DataFiles): void {
  if (sizeOf(files.rollbackJournal)) {
    throw damaged(
      files.rollbackJournal,
      'it is not a file of this store, and SQLite would replay it into the database',
    );
  }
  const headerPages = checkHeader(files.database);
  const scan = sizeOf(files.journal) ? scanWal(files.journal) : undefined;
  if (scan?.damagedFrame !== undefined) {
    throw damaged(
      files.journal,
      `the checksum of frame ${scan.damagedFrame} is wrong, and acknowledged writes follow it`,
    );
  }
  checkSize(files.database, headerPages, scan);
}

/** Every page must be in the file, or in the journal that SQLite completes it from. */
function checkSize(path: string, headerPages: { count: number; bytes: number }, scan: WalScan | undefined): void {
  const size = statSync(path).size;
  const needed = scan && scan.databasePages > 0 ? scan.databasePages : headerPages.count;
  // SQLite keeps its locks in this page of large files and never writes it.
  const lockPage = 0x4000_0000 / headerPages.bytes + 1;
  for (let page = Math.floor(size / headerPages.bytes) + 1; page <= needed; page++) {
    if (scan?.pages.has(page) || page === lockPage) continue;
    throw damaged(path, `it is truncated: ${size} of ${needed * headerPages.bytes} bytes`);
  }
}

function checkHeader(path: string): { count: number; bytes: number } {
  const header = Buffer.alloc(100);
  const descriptor = openSync(path, 'r');
  try {
    if (readSync(descriptor, header) < header.length) throw damaged(path, 'it is truncated');
  } finally {
    closeSync(descriptor);
  }
  if (header.toString('latin1', 0, 16) !== 'SQLite format 3\0')
    throw damaged(path, 'it does not have the header of a SQLite database');
  const bytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  if (bytes < 512) throw damaged(path, 'its header is invalid');
  return { count: header.readUInt32BE(28), bytes };
}

function checkFormat(database: DatabaseSync, path: string): void {
  if (!isOurs(database)) throw damaged(path, 'it is not a Hangar store');
  const version = pragma(database, 'user_version');
  if (version !== formats.plain && version !== formats.restored) {
    throw new StoreError(
      'StorageDamaged',
      `${path} has format ${version}, this program reads formats ${Object.values(formats).join(' and ')}: use the version of Hangar that wrote it`,
    );
  }
  const strange = strangeTable(database);
  if (strange !== undefined) throw damaged(path, `the definition of ${strange} has changed`);
  if (pragma(database, 'journal_mode') !== 'wal') throw damaged(path, 'its header has changed');
}

function identity(database: DatabaseSync, path: string): { storeId: string; revision: Revision } {
  const rows = database.prepare('SELECT store_id, compacted, obsolete_from, checksum FROM meta').all() as {
    store_id: string;
    compacted: number;
    obsolete_from: number;
    checksum: number;
  }[];
  const [meta] = rows;
  if (!meta || rows.length > 1) throw damaged(path, `the table meta has ${rows.length} rows`);
  const storeId = String(meta.store_id);
  if (fieldsChecksum(checksumSeed(storeId), meta.compacted, meta.obsolete_from) !== meta.checksum) {
    throw damaged(path, 'the checksum of the table meta is wrong');
  }
  const newest = database.prepare('SELECT revision FROM log ORDER BY id DESC LIMIT 1').get() as
    | { revision: Revision }
    | undefined;
  return { storeId, revision: newest?.revision ?? (1 as Revision) };
}

function checkMark(files: DataFiles, storeId: string, revision: Revision): void {
  const mark = readMark(files.mark);
  if (!mark) return;
  if (mark.storeId !== storeId) {
    throw damaged(
      files.database,
      `it belongs to a different store than ${files.mark}: the files of two data directories were mixed`,
    );
  }
  if (revision < mark.revision) {
    throw damaged(
      files.journal,
      `revisions ${revision + 1} to ${mark.revision} were acknowledged and are missing: the file was truncated, removed or overwritten`,
    );
  }
}
