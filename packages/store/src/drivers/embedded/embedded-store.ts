/**
 * The embedded driver, the default: SQLite in a directory, no set-up. Durable (`synchronous = FULL`), concurrent writers
 * share a commit, readers never wait for it. One process per directory.
 */

import { DatabaseSync } from 'node:sqlite';
import { systemClock, systemRandom } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import type { Store } from '../../contract.ts';
import type { Command, Outcome } from '../../engine/command.ts';
import { defaultHistory } from '../../engine/history-window.ts';
import type { HistoryPolicy } from '../../engine/history-window.ts';
import { MvccStore } from '../../engine/mvcc-store.ts';
import { AcknowledgedMark } from './acknowledged.ts';
import { createStore, prepareDirectory, sync } from './data-directory.ts';
import { dataFiles, holdsStore, inspect } from './inspect.ts';
import { takeOwnership } from './ownership.ts';
import type { Ownership } from './ownership.ts';
import { configure, defaultCheckpointPages } from './schema.ts';
import { whileOpening } from './sqlite-errors.ts';
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
  /** Databases up to this size are read whole before they are used. */
  verifyBytesMax?: number;
  /** Pages in the journal file that start a checkpoint. */
  checkpointPages?: number;
}

/** Rejects with `StorageInUse`, `StorageDamaged`, `StorageReadOnly`, `StorageFull` (too full to open it) or `StorageFailed`. */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<Store> {
  const { directory, random = systemRandom, cacheBytes = 32 * 1024 * 1024 } = options;
  const files = dataFiles(directory);
  prepareDirectory(files);
  const ownership = takeOwnership(directory);
  let database: DatabaseSync | undefined;
  let writer: Writer | undefined;
  let mark: AcknowledgedMark | undefined;
  try {
    if (!holdsStore(files)) createStore(files, Buffer.from(random.bytes(16)).toString('hex'));
    const storeId = inspect(files, { verifyBytesMax: options.verifyBytesMax ?? 64 * 1024 * 1024 });
    const checkpointPages = options.checkpointPages ?? defaultCheckpointPages;
    writer = await Writer.start({ path: files.database, cacheBytes, checkpointPages });
    // A process that was killed before its sync leaves a commit that is readable but not durable. The sync makes it durable.
    sync(files.journal);
    database = new DatabaseSync(files.database, { readOnly: true });
    configure(database, cacheBytes);
    const reader = new SqliteReader(database, files.database);
    mark = new AcknowledgedMark(files.mark, storeId);
    mark.write(reader.revision());
    return new MvccStore({
      clock: options.clock ?? systemClock,
      random,
      reader,
      commit: marked(writer, mark),
      history: options.history ?? defaultHistory,
      ...(options.watchQueueLengthMax !== undefined && { watchQueueLengthMax: options.watchQueueLengthMax }),
      release: release(writer, database, mark, ownership),
    });
  } catch (error) {
    database?.close();
    await writer?.close();
    mark?.close();
    ownership.release();
    throw whileOpening(error, files.database);
  }
}

/** Moves the high-water mark after each durable group, before the group is acknowledged. */
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
