/**
 * One process per data directory. The lock is SQLite's own on a file beside the database: the system releases it when
 * the process ends, however it ends, so a stale lock cannot exist.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../errors.ts';
import { fromSqlite, isBusy } from './sqlite-errors.ts';

export interface Ownership {
  release(): void;
}

/** Throws `StorageInUse` and names the process that has the directory. */
export function takeOwnership(directory: string): Ownership {
  const lockPath = join(directory, 'owner.lock');
  const pidPath = join(directory, 'owner.pid');
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(lockPath, { timeout: 0 });
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    writeFileSync(pidPath, `${process.pid}\n`);
  } catch (error) {
    lock?.close();
    if (!isBusy(error)) throw fromSqlite(error, lockPath);
    throw new StoreError(
      'StorageInUse',
      `${directory} is in use by ${ownerOf(pidPath)}: a data directory has one process; stop that one or choose another directory`,
      { cause: error },
    );
  }
  const held = lock;
  return { release: () => held.close() };
}

function ownerOf(pidPath: string): string {
  try {
    return `process ${readFileSync(pidPath, 'utf8').trim()}`;
  } catch {
    return 'another process';
  }
}
