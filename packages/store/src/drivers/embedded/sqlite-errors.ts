/** The one place that knows what SQLite's result codes mean for the contract. */

import { asError } from '@hangar/core';
import { StoreError } from '../../errors.ts';

const codes = { readonly: 8, ioerr: 10, corrupt: 11, full: 13, cantopen: 14, notadb: 26 } as const;

interface SqliteError extends Error {
  code: 'ERR_SQLITE_ERROR';
  errcode: number;
}

/** Extended codes keep the primary one in their low byte. */
export function primaryCode(error: unknown): number | undefined {
  const { code, errcode } = error as Partial<SqliteError>;
  return code === 'ERR_SQLITE_ERROR' && errcode !== undefined ? errcode & 0xff : undefined;
}

export function isBusy(error: unknown): boolean {
  const code = primaryCode(error);
  return code === 5 || code === 6;
}

export function isDamage(error: unknown): boolean {
  const code = primaryCode(error);
  return code === codes.corrupt || code === codes.notadb;
}

export function fromSqlite(error: unknown, path: string): StoreError {
  if (error instanceof StoreError) return error;
  const cause = { cause: error };
  const text = asError(error).message;
  switch (primaryCode(error)) {
    case codes.full:
      return new StoreError('StorageFull', `${path} cannot grow: no space left`, cause);
    case codes.readonly:
      return new StoreError('StorageReadOnly', `${path} cannot be written: it is read-only`, cause);
    case codes.corrupt:
    case codes.notadb:
      return damaged(path, text, cause);
    default:
      return new StoreError('StorageFailed', `${path}: ${text}`, cause);
  }
}

export function damaged(path: string, problem: string, options?: ErrorOptions): StoreError {
  return new StoreError(
    'StorageDamaged',
    `${path} is damaged (${problem}): restore the data directory from a backup, or move it away to begin with an empty store`,
    options,
  );
}
