/** Maps SQLite's result codes to the errors of the contract. */

import { asError } from '@hangar/core';
import { storageError, StoreError } from '../../errors.ts';

const codes = { error: 1, busy: 5, locked: 6, readonly: 8, ioerr: 10, corrupt: 11, full: 13, notadb: 26 } as const;

/** The memory that connections share (`-shm`) cannot grow: its file needs whole pages before they are used. */
const sharedMemoryFull = codes.ioerr | (19 << 8);

interface SqliteError extends Error {
  code: 'ERR_SQLITE_ERROR';
  errcode: number;
}

function extendedCode(error: unknown): number | undefined {
  const { code, errcode } = error as Partial<SqliteError>;
  return code === 'ERR_SQLITE_ERROR' ? errcode : undefined;
}

/** Extended codes keep the primary one in their low byte. */
export function primaryCode(error: unknown): number | undefined {
  const code = extendedCode(error);
  return code === undefined ? undefined : code & 0xff;
}

export function isBusy(error: unknown): boolean {
  const code = primaryCode(error);
  return code === codes.busy || code === codes.locked;
}

/** Converts the error of a commit or a read. */
export function fromSqlite(error: unknown, path: string): StoreError {
  if (error instanceof StoreError) return error;
  const cause = { cause: error };
  const text = asError(error).message;
  // The number is out of range for a revision or size: only damage causes this.
  if ((error as NodeJS.ErrnoException).code === 'ERR_OUT_OF_RANGE') return damaged(path, text, cause);
  switch (primaryCode(error)) {
    case codes.full:
      return new StoreError('StorageFull', `${path} cannot grow: no space left`, cause);
    case codes.readonly:
      return new StoreError('StorageReadOnly', `${path} cannot be written: it is read-only`, cause);
    case codes.corrupt:
      // SQLite reports this also when the disk fails to read: the two cases are indistinguishable.
      return damaged(path, `${text}, or the disk failed to read it`, cause);
    case codes.notadb:
      return damaged(path, text, cause);
    default:
      return new StoreError('StorageFailed', `${path}: ${text}`, cause);
  }
}

/** Converts an error of opening. Nothing can be half done before the store is open, so the error is more specific. */
export function whileOpening(error: unknown, path: string): StoreError {
  if (error instanceof StoreError) return error;
  const code = extendedCode(error);
  if (code === sharedMemoryFull) {
    return new StoreError('StorageFull', `${path} cannot be opened: no space left for its shared-memory file`, {
      cause: error,
    });
  }
  // "no such table", "no such column": the file is a database, but not the one that was written.
  if (code === codes.error) return damaged(path, asError(error).message, { cause: error });
  if (code === undefined && (error as NodeJS.ErrnoException).syscall !== undefined) {
    return storageError(error, `${path} cannot be opened`);
  }
  return fromSqlite(error, path);
}

export function damaged(path: string, problem: string, options?: ErrorOptions): StoreError {
  return new StoreError(
    'StorageDamaged',
    `${path} is damaged (${problem}): restore the data directory from a backup, or move it away to start with an empty store`,
    options,
  );
}
