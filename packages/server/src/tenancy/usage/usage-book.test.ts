import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CodedError, seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { openMemoryStore } from '@hangar/store';
import type { CommitResult, Store, Write } from '@hangar/store';
import { ForwardingStore } from '../../objects/forwarding-store.ts';
import { encodeIdentity } from '../identity.ts';
import { identityKey, tenantPrefix, usageKey } from '../layout.ts';
import { UsageBook } from './usage-book.ts';
import { decodeUsage } from './usage-record.ts';
import type { UsageCounters } from './usage-record.ts';

const prefixOf = (path: string): string => tenantPrefix('/registry', path);

async function born(store: Store, path: string, seed = `seed of ${path}`) {
  const value = encodeIdentity({ seed, createdAt: '2026-01-01T00:00:00Z' });
  const result = await store.commit([{ type: 'put', key: identityKey(prefixOf(path)), value }]);
  return { path, seed, revision: result.revision };
}

const stored = async (store: Store, path: string): Promise<UsageCounters> => {
  const { mark: _, ...counters } = decodeUsage((await store.get(usageKey(prefixOf(path)))).entry?.value);
  return counters;
};

class Watched extends ForwardingStore {
  readonly commits: (readonly Write[])[] = [];
  /** Outcomes of the next commits. */
  readonly fates: ((store: Store, writes: readonly Write[]) => Promise<CommitResult>)[] = [];

  override async commit(writes: readonly Write[]): Promise<CommitResult> {
    this.commits.push(writes);
    return (this.fates.shift() ?? ((store, all) => store.commit(all)))(this.store, writes);
  }
}

/** The memory store does not use the virtual clock: it responds some turns of the event loop later. */
class WorldClock extends Scheduler {
  override async advance(delayMs: number): Promise<void> {
    await super.advance(delayMs);
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    await super.advance(0);
  }
}

async function world() {
  const clock = new WorldClock(seededRandom(1));
  const store = new Watched(await openMemoryStore());
  const errors: Error[] = [];
  const book = (seed = 1): UsageBook =>
    new UsageBook({
      store,
      storePrefix: '/registry',
      clock,
      random: seededRandom(seed),
      onError: (error) => errors.push(error),
    });
  return { clock, store, errors, book };
}

describe('what a tenant uses', () => {
  test('what tenants do goes on to grow when it is written down, until they are idle', async () => {
    const { store, book } = await world();
    const one = book();
    const { meter, close } = one.open({ ...(await born(store, 'a')), memoryBytes: () => 7 });
    meter.requested(true);
    await one.flush();
    meter.requested(true);
    meter.requested(false);
    const used = { path: 'a', reads: 2, writes: 1, watches: 0, memoryBytes: 7, recent: meter.recent };
    assert.deepEqual([...one.activities()], [used]);
    close();
    assert.deepEqual([...one.activities()], [{ ...used, memoryBytes: 0 }]);
    await one.flush();
    assert.deepEqual([...one.activities()], []);
  });

  test('is written down within a minute, once, and not at all when there is nothing', async () => {
    const { clock, store, book } = await world();
    const demo = await born(store, 'demo');
    store.commits.splice(0);
    const usage = book();
    const { meter } = usage.open(demo);
    await clock.advance(600_000);
    assert.equal(store.commits.length, 0);
    for (let i = 0; i < 5; i++) meter.requested(true);
    meter.requested(false);
    await clock.advance(59_000);
    assert.equal(store.commits.length, 0);
    await clock.advance(2_000);
    assert.deepEqual(await stored(store, 'demo'), { reads: 5, writes: 1, watchMs: 0 });
    await clock.advance(600_000);
    assert.equal(store.commits.length, 1);
    meter.requested(true);
    await clock.advance(61_000);
    assert.deepEqual(await stored(store, 'demo'), { reads: 6, writes: 1, watchMs: 0 });
    assert.equal(store.commits.length, 2, 'without reading, and without being refused');
  });

  test('is told at once, whether or not it is written down', async () => {
    const { clock, store, book } = await world();
    const demo = await born(store, 'demo');
    const usage = book();
    const { meter } = usage.open(demo);
    meter.requested(true);
    assert.equal((await usage.total('demo', demo.seed)).reads, 1);
    await usage.flush();
    meter.requested(true);
    const flushing = usage.flush();
    assert.equal((await usage.total('demo', demo.seed)).reads, 2, 'while it is written');
    await flushing;
    assert.equal((await usage.total('demo', demo.seed)).reads, 2);
    assert.equal((await usage.total('demo', 'another')).reads, 2, 'of another one of the same path, what is stored');
    await clock.advance(0);
  });

  test('of watches is their time, also while they go on', async () => {
    const { clock, store, book } = await world();
    const usage = book();
    const demo = await born(store, 'demo');
    const { meter } = usage.open(demo);
    const ends = [meter.watchBegan(), meter.watchBegan()];
    await clock.advance(10_000);
    ends[0]!();
    ends[0]!();
    assert.equal(usage.watches('demo'), 1);
    await clock.advance(10_000);
    assert.equal((await usage.total('demo', demo.seed)).watchMs, 30_000);
    await clock.advance(40_000);
    assert.equal((await stored(store, 'demo')).watchMs, 70_000);
    await clock.advance(60_000);
    assert.equal((await stored(store, 'demo')).watchMs, 130_000);
    ends[1]!();
    await usage.close();
    assert.equal(usage.watches('demo'), 0);
    assert.equal((await stored(store, 'demo')).watchMs, 130_000);
  });

  test('adds up over servers, over restarts, and over openings', async () => {
    const { store, book } = await world();
    const demo = await born(store, 'demo');
    const [one, other] = [book(1), book(2)];
    const [a, b] = [one.open(demo), other.open(demo)];
    for (let round = 1; round <= 3; round++) {
      a.meter.requested(true);
      b.meter.requested(false);
      await Promise.all([one.flush(), other.flush()]);
      assert.deepEqual(await stored(store, 'demo'), { reads: round, writes: round, watchMs: 0 });
    }
    a.meter.requested(true);
    a.close();
    one.open(demo).meter.requested(true);
    await one.close();
    const again = book(3);
    again.open(demo).meter.requested(true);
    await again.close();
    assert.deepEqual(await stored(store, 'demo'), { reads: 6, writes: 3, watchMs: 0 });
  });

  test('of many tenants is few transactions', async () => {
    const { store, book } = await world();
    const usage = book();
    for (let i = 0; i < 100; i++) usage.open(await born(store, `t${i}`)).meter.requested(true);
    store.commits.splice(0);
    await usage.flush();
    assert.ok(store.commits.length <= 4, `${store.commits.length}`);
    for (let i = 0; i < 100; i++) assert.equal((await stored(store, `t${i}`)).reads, 1);
  });
});

describe('a tenant that is no more', () => {
  test('gets no record, and keeps nobody else from theirs', async () => {
    const { store, book } = await world();
    const usage = book();
    const [gone, there] = [await born(store, 'gone'), await born(store, 'there')];
    usage.open(gone).meter.requested(true);
    usage.open(there).meter.requested(true);
    await store.commit([{ type: 'delete', key: identityKey(prefixOf('gone')) }]);
    await usage.flush();
    assert.equal((await store.get(usageKey(prefixOf('gone')))).entry, undefined);
    assert.equal((await stored(store, 'there')).reads, 1);
  });

  test('leaves nothing to the next one of its path', async () => {
    const { store, book } = await world();
    const usage = book();
    const first = usage.open(await born(store, 'demo', 'first'));
    first.meter.requested(true);
    const second = usage.open(await born(store, 'demo', 'second'));
    second.meter.requested(false);
    first.meter.requested(true);
    first.close();
    await usage.flush();
    assert.deepEqual(await stored(store, 'demo'), { reads: 0, writes: 1, watchMs: 0 });
  });

  test('is another one than whose identity was only written again', async () => {
    const { store, book } = await world();
    const usage = book();
    const { meter } = usage.open(await born(store, 'demo', 'same'));
    await born(store, 'demo', 'same');
    meter.requested(true);
    await usage.flush();
    assert.equal((await stored(store, 'demo')).reads, 1);
  });
});

describe('a store that fails', () => {
  const lost = new CodedError('Unavailable', 'nobody answers');
  const refuses = (): Promise<CommitResult> => Promise.reject(new CodedError('StorageFull', 'the disk is full'));
  const forgets = (): Promise<CommitResult> => Promise.reject(lost);
  const writesAndForgets = (store: Store, writes: readonly Write[]): Promise<CommitResult> =>
    store.commit(writes).then(() => Promise.reject(lost));

  for (const [name, fate] of Object.entries({ refuses, forgets, writesAndForgets })) {
    test(`and ${name}: everything is counted once`, async () => {
      const { clock, store, errors, book } = await world();
      const demo = await born(store, 'demo');
      const usage = book();
      const { meter } = usage.open(demo);
      meter.requested(true);
      store.fates.push(fate);
      await clock.advance(61_000);
      assert.equal(errors.length, 1);
      assert.equal((await usage.total('demo', demo.seed)).reads, 1);
      meter.requested(true);
      assert.equal((await usage.total('demo', demo.seed)).reads, 2);
      // It is retried without further usage.
      await clock.advance(60_000);
      assert.equal((await stored(store, 'demo')).reads, 2);
      assert.equal((await usage.total('demo', demo.seed)).reads, 2);
    });
  }
});

test('what is closed and written down costs no memory', async () => {
  const { store, book } = await world();
  const usage = book();
  const demo = await born(store, 'demo');
  const opening = usage.open(demo);
  opening.meter.requested(true);
  opening.close();
  assert.equal(usage.size, 1, 'not written down yet');
  await usage.flush();
  assert.equal(usage.size, 0);
  const again = usage.open(demo);
  await usage.flush();
  assert.equal(usage.size, 1, 'open');
  again.close();
  assert.equal(usage.size, 0);
});
