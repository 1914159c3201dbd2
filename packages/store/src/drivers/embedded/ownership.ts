/**
 * One process per data directory. The lock is SQLite's own on a file beside the database: the system releases it when
 * the process ends, however it ends, so a stale lock cannot exist.
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../errors.ts';
import { isBusy, whileOpening } from './sqlite-errors.ts';

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

/** For people only: a full disk that has no room for it does not keep the store from opening. */
function signWith(pidPath: string): void {
  try {
    rmSync(pidPath, { force: true });
    writeFileSync(pidPath, `${process.pid}\n`);
  } catch {
    // Then a second process hears of "another process".
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
