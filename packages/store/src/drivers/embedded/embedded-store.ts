/**
 * The embedded driver, the default: SQLite in a directory, no set-up. Durable (`synchronous = FULL`), concurrent writers
 * share a commit, readers never wait for it. One process per directory.
 */

import { mkdirSync, renameSync, rmSync, openSync, fsyncSync, closeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { systemClock, systemRandom } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import type { Store } from '../../contract.ts';
import type { Command, Outcome } from '../../engine/command.ts';
import { defaultHistory } from '../../engine/history-window.ts';
import type { HistoryPolicy } from '../../engine/history-window.ts';
import { MvccStore } from '../../engine/mvcc-store.ts';
import { storageError, StoreError } from '../../errors.ts';
import { AcknowledgedMark } from './acknowledged.ts';
import { dataFiles, holdsStore, inspect } from './inspect.ts';
import type { DataFiles } from './inspect.ts';
import { takeOwnership } from './ownership.ts';
import type { Ownership } from './ownership.ts';
import { configure, schema } from './schema.ts';
import { fromSqlite } from './sqlite-errors.ts';
import { SqliteReader } from './sqlite-reader.ts';
import { Writer } from './writer.ts';

export interface EmbeddedStoreOptions {
  directory: string;
  clock?: Clock;
  random?: Random;
  history?: HistoryPolicy;
  /** Page cache of each of the two connections. */
  cacheBytes?: number;
  watchQueueLengthMax?: number;
  verifyBytesMax?: number;
}

export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<Store> {
  const { directory, random = systemRandom, cacheBytes = 32 * 1024 * 1024 } = options;
  const files = dataFiles(directory);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw storageError(error, `the data directory ${directory} cannot be made`);
  }
  const ownership = takeOwnership(directory);
  let database: DatabaseSync | undefined;
  let writer: Writer | undefined;
  try {
    if (!holdsStore(files)) create(files, Buffer.from(random.bytes(16)).toString('hex'));
    const storeId = inspect(files, { verifyBytesMax: options.verifyBytesMax ?? 64 * 1024 * 1024 });
    writer = await Writer.start({ path: files.database, cacheBytes });
    database = new DatabaseSync(files.database, { readOnly: true });
    configure(database, cacheBytes);
    const reader = new SqliteReader(database, files.database);
    const mark = new AcknowledgedMark(files.mark, storeId);
    mark.write(reader.revision());
    return new MvccStore({
      clock: options.clock ?? systemClock,
      random,
      reader,
      commit: marked(writer, mark),
      inFlightMax: 2,
      history: options.history ?? defaultHistory,
      ...(options.watchQueueLengthMax !== undefined && { watchQueueLengthMax: options.watchQueueLengthMax }),
      release: release(writer, database, mark, ownership),
    });
  } catch (error) {
    database?.close();
    await writer?.close();
    ownership.release();
    throw error instanceof StoreError ? error : fromSqlite(error, files.database);
  }
}

/** Under another name first: a store either exists whole or not at all. */
function create(files: DataFiles, storeId: string): void {
  const unfinished = `${files.database}.new`;
  for (const path of [unfinished, `${unfinished}-journal`, `${unfinished}-wal`]) rmSync(path, { force: true });
  const database = new DatabaseSync(unfinished);
  try {
    database.exec(`PRAGMA synchronous = FULL; BEGIN; ${schema} COMMIT`);
    database.prepare('INSERT INTO meta VALUES (?, 0, 1)').run(storeId);
  } finally {
    database.close();
  }
  renameSync(unfinished, files.database);
  const directory = openSync(files.directory, 'r');
  fsyncSync(directory);
  closeSync(directory);
}

/** Moves the high-water mark after each durable group, before anyone is told of it. */
function marked(writer: Writer, mark: AcknowledgedMark): (group: readonly Command[]) => Promise<readonly Outcome[]> {
  return async (group) => {
    const outcomes = await writer.commit(group);
    const last = outcomes.findLast((outcome) => 'result' in outcome && outcome.changes.length > 0);
    if (last && 'result' in last) mark.write(last.result.revision);
    return outcomes;
  };
}

function release(writer: Writer, database: DatabaseSync, mark: AcknowledgedMark, ownership: Ownership) {
  return async () => {
    database.close();
    await writer.close();
    mark.close();
    ownership.release();
  };
}
