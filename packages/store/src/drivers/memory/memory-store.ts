/**
 * The memory driver: the MVCC engine with its tables in memory and its journal on a given disk. With a virtual disk it is the store of
 * the simulation: everything except SQLite is production code. Without a disk it is the store of most other tests.
 */

import { systemClock, systemRandom } from '@hangar/core';
import type { Clock, Disk, Random } from '@hangar/core';
import type { Store } from '../../contract.ts';
import type { Command, Outcome } from '../../engine/command.ts';
import { execute } from '../../engine/execute.ts';
import { defaultHistory } from '../../engine/history-window.ts';
import type { HistoryPolicy } from '../../engine/history-window.ts';
import { MvccStore } from '../../engine/mvcc-store.ts';
import type { StepLengths } from '../../engine/mvcc-store.ts';
import { Journal } from './journal.ts';
import type { Mutation } from './mutation.ts';
import { MemoryTables } from './tables.ts';

export interface MemoryStoreOptions {
  clock?: Clock;
  random?: Random;
  /** Absent: there is no journal, and the content is lost with the store. */
  disk?: Disk;
  directory?: string;
  history?: HistoryPolicy;
  watchQueueLengthMax?: number;
  steps?: StepLengths;
  /** Size that a journal reaches before it is rewritten without obsolete records. */
  journalBytesMin?: number;
  /** Absent: the real one. A simulation injects its bugs here. */
  openJournal?: OpenJournal;
}

export type OpenJournal = (
  ...parameters: Parameters<typeof Journal.open>
) => Promise<Pick<Journal, 'bytes' | 'append' | 'rewrite' | 'close'>>;

/** Without a disk, groups are durable at once. A journal that is never read took a quarter of the time of tests with servers. */
const noJournal: Awaited<ReturnType<OpenJournal>> = {
  bytes: 0,
  append: () => Promise.resolve(),
  rewrite: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

export async function openMemoryStore(options: MemoryStoreOptions = {}): Promise<Store> {
  const clock = options.clock ?? systemClock;
  const journalBytesMin = options.journalBytesMin ?? 1024 * 1024;
  const tables = new MemoryTables();
  const openJournal: OpenJournal = options.openJournal ?? Journal.open;
  const replay = (group: readonly Mutation[]): void => {
    for (const mutation of group) tables.apply(mutation);
    tables.makeDurable();
  };
  const journal = options.disk ? await openJournal(options.disk, options.directory ?? '/data', replay) : noJournal;
  let rewriteAtBytes = Math.max(journalBytesMin, journal.bytes * 2);

  async function commit(group: readonly Command[]): Promise<Outcome[]> {
    if (journal.bytes > rewriteAtBytes) {
      // A failure here loses nothing: the old journal stays in use.
      await journal.rewrite(tables.snapshot()).catch(() => {});
      rewriteAtBytes = Math.max(journalBytesMin, journal.bytes * 2);
    }
    try {
      const outcomes = group.map((command) => execute(tables, command));
      if (tables.group.length > 0) await journal.append(tables.group);
      tables.makeDurable();
      return outcomes;
    } catch (error) {
      tables.rollBack();
      throw error;
    }
  }

  return new MvccStore({
    clock,
    random: options.random ?? systemRandom,
    reader: tables,
    commit,
    history: options.history ?? defaultHistory,
    ...(options.watchQueueLengthMax !== undefined && { watchQueueLengthMax: options.watchQueueLengthMax }),
    ...(options.steps && { steps: options.steps }),
    release: () => journal.close(),
  });
}
