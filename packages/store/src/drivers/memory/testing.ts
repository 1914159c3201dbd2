/** A small world for the memory driver's own tests: virtual time, a disk that crashes, and a ledger of acknowledged writes. */

import assert from 'node:assert/strict';
import { seededRandom } from '@hangar/core';
import type { Disk, Random } from '@hangar/core';
import { Scheduler, VirtualDisk } from '@hangar/core/simulation';
import type { LeaseId, Revision, Store, Write } from '../../contract.ts';
import type { CompactedError, StoreError } from '../../errors.ts';
import { everything } from '../../keys.ts';
import { openMemoryStore } from './memory-store.ts';
import type { MemoryStoreOptions } from './memory-store.ts';

export const journalPath = '/data/journal';

export class MemoryWorld {
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly disk: VirtualDisk;
  readonly #options: MemoryStoreOptions;
  /** Number of processes that ran here: calls of a stopped one have no effect. */
  #process = 0;

  constructor(seed: number, options: MemoryStoreOptions = {}) {
    this.random = seededRandom(seed);
    this.scheduler = new Scheduler(this.random);
    this.disk = new VirtualDisk({ clock: this.scheduler, random: this.random });
    this.#options = options;
  }

  /** Only inside `run`, like everything that waits for the disk. */
  open(): Promise<Store> {
    const { scheduler, random } = this;
    return openMemoryStore({ clock: scheduler, random, disk: this.#mortalDisk(), ...this.#options });
  }

  /** Simulates a power loss, which stops every process that uses the disk. */
  crash(): void {
    this.#process++;
    this.disk.crash();
  }

  #mortalDisk(): Disk {
    const { disk } = this;
    const process = this.#process;
    const alive = () => {
      if (process !== this.#process) throw Object.assign(new Error('EIO: this process is dead'), { code: 'EIO' });
      return disk;
    };
    return {
      open: async (path, options) => alive().open(path, options),
      list: async (directory) => alive().list(directory),
      rename: async (from, to) => alive().rename(from, to),
      remove: async (path) => alive().remove(path),
      syncDirectory: async (directory) => alive().syncDirectory(directory),
    };
  }

  run<T>(life: () => Promise<T>): Promise<T> {
    return this.scheduler.run(life());
  }

  /** Opens a store of this world for `work`, and closes it afterwards. */
  withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
    return this.run(async () => {
      const store = await this.open();
      try {
        return await work(store);
      } finally {
        await store.close();
      }
    });
  }

  journal(): Buffer {
    const bytes = this.disk.peek(journalPath);
    assert.ok(bytes, 'there is no journal');
    return Buffer.from(bytes);
  }
}

export function put(key: string, text: string, lease?: LeaseId): Write {
  return { type: 'put', key, value: Buffer.from(text), ...(lease !== undefined && { lease }) };
}

/** Returns the code of a rejection, or `acknowledged`. */
export function outcomeOf(commit: Promise<unknown>): Promise<string> {
  return commit.then(
    () => 'acknowledged',
    (error: StoreError) => error.code,
  );
}

/** Returns `key=text@modRevision` of all entries, in order. */
export async function contents(store: Store, atRevision?: Revision): Promise<string[]> {
  const { entries } = await store.range(everything, atRevision === undefined ? {} : { atRevision });
  return entries.map(({ key, value, modRevision }) => `${key}=${Buffer.from(value).toString()}@${modRevision}`);
}

/** Checks that the history since the compaction leads from the state at that time to the current state. */
export async function checkHistory(store: Store): Promise<void> {
  const start = await historyStart(store);
  const replayed = new Map((await contents(store, start)).map((line) => [line.slice(0, line.indexOf('=')), line]));
  const watch = store.watch({ prefix: '', fromRevision: (start + 1) as Revision });
  const current = await store.revision();
  watch.requestProgress();
  let last = start;
  for (let batch = await watch.next(); batch && batch.events.length > 0; batch = await watch.next()) {
    assert.ok(batch.revision > last && batch.revision <= current, `revision ${batch.revision} after ${last}`);
    last = batch.revision;
    for (const event of batch.events) {
      if (event.type === 'delete') replayed.delete(event.key);
      else {
        const { key, value, modRevision } = event.entry;
        assert.equal(modRevision, batch.revision);
        replayed.set(key, `${key}=${Buffer.from(value).toString()}@${modRevision}`);
      }
    }
  }
  watch.close();
  assert.deepEqual([...replayed.values()].sort(), (await contents(store)).sort());
}

/** The oldest revision that can be read. */
async function historyStart(store: Store): Promise<Revision> {
  try {
    await store.range(everything, { atRevision: 1 as Revision, limit: 1 });
    return 1 as Revision;
  } catch (error) {
    return (error as CompactedError).compactedRevision;
  }
}

/**
 * Expected content: pairs of keys that are only written and deleted together. A commit in progress makes its pair uncertain; its
 * acknowledgement, or the first read after a restart, makes it certain again.
 */
export class PairLedger {
  readonly #pairs = new Map<string, 'present' | 'absent' | 'uncertain'>();
  #revision = 0 as Revision;

  /** Names of pairs that certainly exist and are not being deleted. */
  present(): string[] {
    return [...this.#pairs].flatMap(([name, state]) => (state === 'present' ? [name] : []));
  }

  async write(store: Store, name: string, lease?: LeaseId): Promise<void> {
    this.#pairs.set(name, 'uncertain');
    const writes = keysOf(name).map((key) => put(key, name, lease));
    this.#acknowledge(name, 'present', (await store.commit(writes)).revision);
  }

  async delete(store: Store, name: string): Promise<void> {
    this.#pairs.set(name, 'uncertain');
    const result = await store.commit(keysOf(name).map((key): Write => ({ type: 'delete', key })));
    this.#acknowledge(name, 'absent', result.revision);
  }

  /** Records a commit that certainly did not happen. */
  refused(name: string, stays: 'present' | 'absent'): void {
    this.#pairs.set(name, stays);
  }

  /** `action` deletes the pair by other means. */
  async deleteBy(name: string, action: () => Promise<void>): Promise<void> {
    this.#pairs.set(name, 'uncertain');
    await action();
    this.#pairs.set(name, 'absent');
  }

  #acknowledge(name: string, state: 'present' | 'absent', revision: Revision): void {
    this.#pairs.set(name, state);
    this.#revision = Math.max(this.#revision, revision) as Revision;
  }

  /** Reads after a restart: the state found for uncertain pairs must not change from then on. */
  async check(store: Store): Promise<void> {
    for (const [name, state] of this.#pairs) {
      const [a, b] = await Promise.all(keysOf(name).map(async (key) => (await store.get(key)).entry));
      assert.equal(a?.modRevision, b?.modRevision, `half of the pair ${name}`);
      const found = a ? 'present' : 'absent';
      if (state !== 'uncertain') assert.equal(found, state, `the pair ${name}`);
      this.#pairs.set(name, found);
    }
    assert.ok((await store.revision()) >= this.#revision, 'the revision went back');
    await checkHistory(store);
  }
}

function keysOf(name: string): string[] {
  return [`/pairs/${name}/a`, `/pairs/${name}/b`];
}
