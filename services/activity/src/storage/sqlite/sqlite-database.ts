/** The default driver: one SQLite file, with one writer. Readers of other threads open the same file. */

import { DatabaseSync } from 'node:sqlite';
import type { EventDatabase } from '../contract.ts';
import { SqliteReader } from './reader.ts';
import { configureReader } from './schema.ts';
import { SqliteWriter } from './writer.ts';

/** Opens the database for reads and writes, and creates it if it does not exist. */
export async function openSqlite(path: string): Promise<EventDatabase> {
  const database = new DatabaseSync(path);
  try {
    const writer = new SqliteWriter(database);
    // A crash may have interrupted a retention.
    await writer.deleteDropped();
    const reader = new SqliteReader(database);
    return {
      ...readsOf(reader),
      // Writes and reads of one connection must not overlap: each is one synchronous step.
      append: (...all) => attempt(() => writer.append(...all)),
      retain: (options) => writer.retain(options),
      close: () => attempt(() => database.close()),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Opens an existing database for reads. */
export function openSqliteReader(path: string): EventDatabase {
  const database = new DatabaseSync(path, { readOnly: true });
  configureReader(database);
  const refuse = (): never => {
    throw new Error('the database was opened for reads');
  };
  return {
    ...readsOf(new SqliteReader(database)),
    append: () => attempt(refuse),
    retain: () => attempt(refuse),
    close: () => attempt(() => database.close()),
  };
}

const readsOf = (reader: SqliteReader) => ({
  query: reader.query.bind(reader),
  activities: (query: Parameters<SqliteReader['activities']>[0]) => attempt(() => reader.activities(query)),
  countActivities: (query: Parameters<SqliteReader['activities']>[0]) => attempt(() => reader.countActivities(query)),
  activity: (...all: Parameters<SqliteReader['activity']>) => attempt(() => reader.activity(...all)),
  secret: () => attempt(() => reader.secret()),
});

const attempt = async <Result>(work: () => Result): Promise<Result> => work();
