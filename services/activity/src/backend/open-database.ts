/** Opens the database at an address: a file of SQLite. */

import { openSqlite, openSqliteReader } from '../storage/sqlite/sqlite-database.ts';
import type { EventDatabase } from '../storage/contract.ts';

/** Whether other processes may write to the database, too. */
export const isShared = (_address: string): boolean => false;

/** `isReader`: the database exists, and is only read. */
export async function openDatabase(address: string, isReader = false): Promise<EventDatabase> {
  return isReader ? openSqliteReader(address) : openSqlite(address);
}
