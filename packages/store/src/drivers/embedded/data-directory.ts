/** Makes the data directory and a new store in it, so that neither a crash nor a power cut leaves half of one. */

import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { storageError } from '../../errors.ts';
import { checksumSeed, fieldsChecksum } from './checksum.ts';
import type { DataFiles } from './inspect.ts';
import { schema } from './schema.ts';

/** Throws `StorageReadOnly` now rather than at the first write. */
export function prepareDirectory(files: DataFiles): void {
  const directory = resolve(files.directory);
  try {
    makeDirectory(directory);
  } catch (error) {
    throw storageError(error, `the data directory ${directory} cannot be created`);
  }
  for (const path of [directory, files.database, files.journal, files.mark]) {
    try {
      if (exists(path)) accessSync(path, constants.R_OK | constants.W_OK);
    } catch (error) {
      throw storageError(error, `${path} cannot be written`);
    }
  }
}

function makeDirectory(directory: string): void {
  if (exists(directory)) return;
  const parent = dirname(directory);
  makeDirectory(parent);
  mkdirSync(directory, { mode: 0o700 });
  sync(parent); // a directory is as durable as the entry in its parent
}

/** Not `existsSync`, which reports a failing disk as an absent file. */
function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Under another name first: a store either exists whole or not at all. */
export function createStore(files: DataFiles, storeId: string): void {
  const unfinished = `${files.database}.new`;
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(unfinished + suffix, { force: true });
  // It will hold secrets, and the directory may be open to others; SQLite gives its journal the same mode.
  closeSync(openSync(unfinished, 'wx', 0o600));
  const database = new DatabaseSync(unfinished);
  try {
    database.exec(`PRAGMA synchronous = FULL; BEGIN; ${schema}`);
    database.prepare('INSERT INTO meta VALUES (?, 0, 1, ?)').run(storeId, fieldsChecksum(checksumSeed(storeId), 0, 1));
    database.exec('COMMIT');
    // From the start: changing it later would be a write outside of the journal that we know how to check.
    database.exec('PRAGMA journal_mode = WAL');
  } finally {
    database.close();
  }
  renameSync(unfinished, files.database);
  sync(files.directory);
}

/** A file or a directory. Never the database: closing any handle on it would drop the locks that SQLite holds. */
export function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
