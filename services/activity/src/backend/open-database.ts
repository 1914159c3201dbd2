/** Opens the database at an address: a file of SQLite, or `postgres://…`. */

import type { EventDatabase } from '../storage/contract.ts';

const isPostgres = (address: string): boolean => /^postgres(ql)?:\/\//.test(address);

/** Whether other processes may write to the database, too. */
export const isShared = isPostgres;

/** Loads the driver. `isReader`: the database exists, and is only read. */
export async function openDatabase(address: string, isReader = false): Promise<EventDatabase> {
  if (isPostgres(address)) {
    const { openPostgres } = await import('../storage/postgres/postgres-database.ts');
    return openPostgres(address);
  }
  const { openSqlite, openSqliteReader } = await import('../storage/sqlite/sqlite-database.ts');
  return isReader ? openSqliteReader(address) : openSqlite(address);
}
