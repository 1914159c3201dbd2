/**
 * The writer's thread: the only one that changes the database. Each message is a group of commands; it is executed in
 * one SQLite transaction, whose COMMIT returns after the sync, and answered as a whole.
 */

import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { Command, Outcome } from '../../engine/command.ts';
import { execute } from '../../engine/execute.ts';
import type { StoreErrorCode } from '../../errors.ts';
import { configureWriter } from './schema.ts';
import { fromSqlite } from './sqlite-errors.ts';
import { SqliteWriter } from './sqlite-writer.ts';

export interface WriterOptions {
  path: string;
  cacheBytes: number;
}

/** Undefined as the request asks the thread to close the database and end. */
export type WriterRequest = readonly Command[] | undefined;

export type WriterReply =
  | { readonly outcomes: readonly Outcome[] }
  | { readonly failure: { readonly code: StoreErrorCode; readonly message: string } };

const port = parentPort!;
const { path, cacheBytes } = workerData as WriterOptions;
const database = new DatabaseSync(path);
configureWriter(database, cacheBytes);
const tables = new SqliteWriter(database);
const begin = database.prepare('BEGIN IMMEDIATE');
const commit = database.prepare('COMMIT');

port.on('message', (group: WriterRequest) => {
  if (group) port.postMessage(run(group));
  else close();
});
port.postMessage({ outcomes: [] } satisfies WriterReply); // ready

function run(group: readonly Command[]): WriterReply {
  try {
    begin.run();
    const outcomes = group.map((command) => execute(tables, command));
    commit.run();
    return { outcomes };
  } catch (error) {
    rollBack();
    const { code, message } = fromSqlite(error, path);
    return { failure: { code, message } };
  }
}

/** SQLite may have rolled back by itself already, as it does when the disk is full. */
function rollBack(): void {
  if (database.isTransaction) database.exec('ROLLBACK');
  tables.refresh();
}

function close(): void {
  try {
    database.close(); // moves the journal into the database and removes it
  } finally {
    port.close();
  }
}
