/**
 * The writer thread: the only thread that changes the database. Each message is a group of commands. The thread executes the group in one
 * SQLite transaction, whose COMMIT returns after the sync, and answers it as a whole.
 */

import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { Command } from '../../engine/command.ts';
import { execute } from '../../engine/execute.ts';
import type { StoreError, StoreErrorCode } from '../../errors.ts';
import { configureWriter } from './schema.ts';
import { fromSqlite, whileOpening } from './sqlite-errors.ts';
import { SqliteWriter } from './sqlite-writer.ts';
import { packOutcomes, unpackGroup } from './wire.ts';
import type { PackedGroup, PackedOutcomes } from './wire.ts';

export interface WriterOptions {
  path: string;
  cacheBytes: number;
  checkpointPages: number;
}

/** Undefined as the request makes the thread close the database and exit. */
export type WriterRequest = PackedGroup | undefined;

export type WriterReply =
  | { readonly outcomes: PackedOutcomes }
  | { readonly failure: { readonly code: StoreErrorCode; readonly message: string } };

/** State of a thread that has opened the database. */
interface Connection {
  readonly database: DatabaseSync;
  readonly tables: SqliteWriter;
  readonly begin: StatementSync;
  readonly commit: StatementSync;
  /** A group was rolled back: `tables` must read the end of the log again. */
  stale: boolean;
}

const port = parentPort!;
const { path, cacheBytes, checkpointPages } = workerData as WriterOptions;
start();

function start(): void {
  let connection: Connection;
  try {
    connection = connect();
  } catch (error) {
    port.postMessage(failure(whileOpening(error, path)));
    port.close();
    return;
  }
  port.on('message', (group: WriterRequest) => {
    if (group) reply(run(connection, unpackGroup(group)));
    else close(connection);
  });
  port.postMessage({ outcomes: packOutcomes([]) } satisfies WriterReply); // ready
}

function reply(message: WriterReply): void {
  port.postMessage(message, 'outcomes' in message ? [message.outcomes.numbers.buffer] : []);
}

function connect(): Connection {
  const database = new DatabaseSync(path);
  try {
    configureWriter(database, cacheBytes, checkpointPages);
    const tables = new SqliteWriter(database);
    return {
      database,
      tables,
      begin: database.prepare('BEGIN IMMEDIATE'),
      commit: database.prepare('COMMIT'),
      stale: false,
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

function run(connection: Connection, group: readonly Command[]): WriterReply {
  const { begin, commit, tables } = connection;
  try {
    begin.run();
    if (connection.stale) tables.refresh();
    connection.stale = false;
    const outcomes = group.map((command) => execute(tables, command));
    commit.run();
    return { outcomes: packOutcomes(outcomes) };
  } catch (error) {
    connection.stale = true;
    rollBack(connection);
    return failure(fromSqlite(error, path));
  }
}

/** SQLite may have rolled back already, for example on a full disk. */
function rollBack({ database }: Connection): void {
  try {
    if (database.isTransaction) database.exec('ROLLBACK');
  } catch {
    // The next BEGIN then fails, and this function runs again.
  }
}

function failure({ code, message }: StoreError): WriterReply {
  return { failure: { code, message } };
}

function close({ database }: Connection): void {
  try {
    database.close(); // moves the journal into the database and removes it
  } finally {
    port.close();
  }
}
