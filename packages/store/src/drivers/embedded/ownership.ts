/**
 * One process per data directory, enforced by a SQLite lock on a file beside the database. The operating system releases the lock when the
 * process exits, for any reason, so a stale lock cannot exist.
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../errors.ts';
import { isBusy, whileOpening } from './sqlite-errors.ts';

export interface Ownership {
  release(): void;
}

/** Throws `StorageInUse` with the id of the process that holds the directory. */
export function takeOwnership(directory: string): Ownership {
  const lockPath = join(directory, 'owner.lock');
  const pidPath = join(directory, 'owner.pid');
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(lockPath, { timeout: 0 });
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    if (isBusy(error)) throw inUse(directory, pidPath, error);
    const refusal = whileOpening(error, lockPath);
    if (refusal.code !== 'StorageDamaged') throw refusal;
    throw new StoreError('StorageDamaged', `${lockPath} is not a lock file: remove it; it contains no data`, {
      cause: error,
    });
  }
  signWith(pidPath);
  const held = lock;
  return { release: () => held.close() };
}

/** Informational only: a disk without room for this file does not prevent the store from opening. */
function signWith(pidPath: string): void {
  try {
    rmSync(pidPath, { force: true });
    writeFileSync(pidPath, `${process.pid}\n`);
  } catch {
    // A second process then reports "another process".
  }
}

function inUse(directory: string, pidPath: string, cause: unknown): StoreError {
  return new StoreError(
    'StorageInUse',
    `${directory} is in use by ${ownerOf(pidPath)}: only one process can use a data directory; stop that process or choose another directory`,
    { cause },
  );
}

function ownerOf(pidPath: string): string {
  try {
    return `process ${Number.parseInt(readFileSync(pidPath, 'utf8')) || 'unknown'}`;
  } catch {
    return 'another process';
  }
}
