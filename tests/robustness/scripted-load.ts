/**
 * A process that exercises an embedded store while its disk fails: creates it, commits, reads, watches, compacts, makes checkpoints, closes
 * it and opens it again. Every failure must be an error of the store; the process reports its actions (`telling.ts`) and exits by itself.
 * `node scripted-load.ts <directory> [prefix of ids]`.
 */

import { setTimeout as delay } from 'node:timers/promises';
import type { Revision, Store, Watch } from '@hangar/store';
import { openEmbeddedStore } from '../../packages/store/src/drivers/embedded/embedded-store.ts';
import { StoreError } from '../../packages/store/src/errors.ts';
import { everything } from '../../packages/store/src/keys.ts';
import type { PlannedWrite } from './plan.ts';
import { commitAndTell, stateOf, tell } from './telling.ts';

const [directory = '', prefix = 't'] = process.argv.slice(2);
const end = (error: unknown) => {
  tell(['failed', error instanceof Error ? `${error.stack}` : String(error)]);
  process.exit(1);
};
process.on('uncaughtException', end);

const large = 9_000;
let count = 0;
/** Revisions of the current session. */
const acknowledged: number[] = [];

await session(async (store) => {
  await commit(store, put('/a', 10), put('/b', 20));
  await commit(store, put('/c', large));
  await commit(store, put('/a', 30));
  await Promise.all([commit(store, put('/d', 100)), commit(store, put('/e', 100)), commit(store, put('/f', large))]);
  await read(store);
  await commit(store, { type: 'delete', key: '/b' });
  await quietly(async () => store.compact(await store.revision()));
  await commit(store, put('/g', large), put('/c', large));
  await commit(store, { type: 'deleteRange', start: '/d', end: '/f' });
  await read(store);
});
await session(async (store) => {
  await commit(store, put('/h', large), put('/a', 5));
  await read(store);
});

async function session(work: (store: Store) => Promise<void>): Promise<void> {
  // Retried when it is refused: the disk fails once.
  const store = (await quietly(open)) ?? (await quietly(open));
  if (!store) return;
  const watch = await quietly(async () => store.watch({ prefix: '/', previous: true }));
  await work(store);
  if (watch) await follow(watch);
  await quietly(() => store.close());
}

function open(): Promise<Store> {
  return openEmbeddedStore({ directory, checkpointPages: 8 });
}

function put(key: string, size: number): PlannedWrite {
  return { type: 'put', key, size };
}

/** Every transaction also puts a unique key, its witness. */
async function commit(store: Store, ...writes: PlannedWrite[]): Promise<void> {
  const id = `${prefix}${count++}`;
  const witness = `/witness/${id}`;
  const answer = await commitAndTell(store, { id, witness, writes: [...writes, put(witness, 0)] });
  if ('revision' in answer) acknowledged.push(answer.revision);
}

/** The content of a store must be right while it works as well. */
async function read(store: Store): Promise<void> {
  const { revision, entries } = (await quietly(() => stateOf(store, everything))) ?? {};
  if (revision !== undefined) tell(['state', revision, [...entries!]]);
  await quietly(() => store.get('/a'));
  await quietly(() => store.range({ start: '/c' }, { atRevision: (revision ?? 1) as Revision, limit: 3 }));
  await quietly(() => store.statistics(everything));
}

/** Everything acknowledged was delivered, in order, unless the watch failed with a reason. */
async function follow(watch: Watch): Promise<void> {
  const seen: number[] = [];
  const last = acknowledged.at(-1);
  await quietly(async () => {
    while (last !== undefined && (seen.at(-1) ?? 0) < last) {
      const batch = await Promise.race([watch.next(), delay(20_000, 'late' as const, { ref: false })]);
      if (batch === 'late') throw new Error(`the watch stopped after ${seen.at(-1)}, before ${last}`);
      seen.push(batch!.revision);
    }
    const missed = acknowledged.filter((revision) => revision >= seen[0]! && !seen.includes(revision));
    if (missed.length > 0) throw new Error(`the watch did not deliver ${missed.join()}`);
    if (seen.some((revision, at) => at > 0 && revision <= seen[at - 1]!))
      throw new Error(`out of order: ${seen.join()}`);
  });
  acknowledged.length = 0;
  watch.close();
}

/** Callers must expect an error of the store; any other is a bug. */
async function quietly<T>(action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    tell(['note', `${error.code}: ${error.message}`]);
    return undefined;
  }
}
