/**
 * Locks the work directory for one process at a time. The lock is an SQLite lock on a file in it: the system releases it when the process
 * exits in any way, also in another container; so there are no stale locks.
 */

import { chmodSync, lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { asError } from '@hangar/core';
import { ProgramError } from './errors.ts';

export interface WorkDir {
  /** Parent of the folders of all programs; absolute, without links. */
  readonly children: string;
  /** Released when this process exits. */
  readonly lock: DatabaseSync;
}

/** Throws `WorkDirInUse`, `WorkDirUnsafe`, `StartFailed`. */
export function openWorkDir(path: string, user: number = process.getuid!()): WorkDir {
  const folder = prepared(path, user);
  const lock = locked(folder);
  try {
    return { children: ownFolder(join(folder, 'children'), user), lock };
  } catch (error) {
    lock.close();
    throw error;
  }
}

function prepared(path: string, user: number): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const folder = realpathSync(path);
    // A volume of a pod is owned by root.
    if (![user, 0].includes(statSync(folder).uid)) {
      throw new ProgramError('WorkDirUnsafe', `${path} belongs to another user: set another --work-dir`);
    }
    return folder;
  } catch (error) {
    throw error instanceof ProgramError
      ? error
      : new ProgramError('StartFailed', `failed to create the work directory: ${asError(error).message}`, {
          cause: error,
        });
  }
}

function ownFolder(path: string, user: number): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const stat = lstatSync(path);
  if (!stat.isDirectory() || stat.uid !== user) {
    throw new ProgramError(
      'WorkDirUnsafe',
      `${path} is not a directory owned by this user: remove it, or set another --work-dir`,
    );
  }
  chmodSync(path, 0o700);
  return path;
}

function locked(folder: string): DatabaseSync {
  const pidPath = join(folder, 'owner.pid');
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(join(folder, 'owner.lock'), { timeout: 0 });
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    rmSync(pidPath, { force: true });
    writeFileSync(pidPath, `${process.pid}\n`, { mode: 0o600 });
    return lock;
  } catch (cause) {
    lock?.close();
    if (!isBusy(cause)) {
      throw new ProgramError('StartFailed', `failed to lock ${folder}: ${asError(cause).message}`, { cause });
    }
    throw new ProgramError(
      'WorkDirInUse',
      `${folder} is in use by ${ownerIn(pidPath)}: stop that process, or set another --work-dir`,
      { cause },
    );
  }
}

const sqliteBusy = 5;
const isBusy = (error: unknown): boolean => (error as { errcode?: number }).errcode === sqliteBusy;

function ownerIn(pidPath: string): string {
  try {
    return `process ${Number.parseInt(readFileSync(pidPath, 'utf8')) || 'unknown'}`;
  } catch {
    return 'another process';
  }
}
