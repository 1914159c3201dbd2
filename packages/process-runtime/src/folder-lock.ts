/** Locks the folder of a runtime for one process. The system releases the lock when the process exits in any way. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ProcessRuntimeError } from './errors.ts';

/** Throws `FolderInUse`. */
export function lockFolder(folder: string): DatabaseSync {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = new DatabaseSync(join(folder, 'owner.lock'), { timeout: 0 });
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return lock;
  } catch (cause) {
    lock.close();
    throw new ProcessRuntimeError('FolderInUse', `folder ${folder} is in use by another process runtime`, { cause });
  }
}
