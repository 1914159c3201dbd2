import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atOnce, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { openMemoryStore, prefixRange } from '@hangar/store';
import type { Revision, Store, Watch, WatchBatch } from '@hangar/store';
import { CacheBudget } from './cache-budget.ts';
import { Collection, filled } from './collection.ts';
import { Collections } from './collections.ts';

const mebibyte = 1024 * 1024;
const put = (key: string, bytes = 10) => ({ type: 'put' as const, key, value: Buffer.alloc(bytes, 0x61) });
const keysOf = (collection: Collection, prefix: string): string[] =>
  collection.read(prefixRange(prefix), 0).entries.map(({ key }) => key);

const filledFrom = async (store: Store, prefix: string) => atOnce(filled(await store.range(prefixRange(prefix))));

/** Counts the open watches, and can break them. */
function observed(store: Store) {
  const open = new Set<Watch>();
  const broken = new Map<Watch, (error: Error) => void>();
  const watch: Store['watch'] = (options) => {
    const inner = store.watch(options);
    const failure = new Promise<never>((_, reject) => broken.set(inner, reject));
    failure.catch(() => undefined);
    open.add(inner);
    const close = (): void => {
      open.delete(inner);
      inner.close();
    };
    const next = (): Promise<WatchBatch | undefined> => Promise.race([inner.next(), failure]);
    return {
      next,
      close,
      requestProgress: () => inner.requestProgress(),
      async *[Symbol.asyncIterator]() {
        for (let batch = await next(); batch; batch = await next()) yield batch;
      },
    };
  };
  const proxy = new Proxy(store, {
    get: (target, name) => {
      if (name === 'watch') return watch;
      const value = Reflect.get(target, name) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const breakAll = (): void => {
    for (const one of open) {
      open.delete(one);
      one.close();
      broken.get(one)!(new Error('cut off'));
    }
  };
  return { store: proxy, open, breakAll };
}

test('a read after an acknowledged write always sees it', async () => {
  const store = await openMemoryStore();
  const collections = new Collections(store, new CacheBudget(mebibyte), systemClock);
  try {
    await collections.fresh('/a/');
    const written: string[] = [];
    await Promise.all(
      Array.from({ length: 50 }, async (_, at) => {
        const key = `/a/${String(at).padStart(3, '0')}`;
        await store.commit([put(key)]);
        written.push(key);
        const expected = [...written];
        const collection = (await collections.fresh('/a/'))!;
        const seen = new Set(keysOf(collection, '/a/'));
        for (const one of expected) assert.ok(seen.has(one), one);
      }),
    );
    await store.commit([{ type: 'delete', key: '/a/007' }]);
    assert.ok(!keysOf((await collections.fresh('/a/'))!, '/a/').includes('/a/007'));
    // A write elsewhere advances the revision too.
    const { revision } = await store.commit([put('/b/1')]);
    assert.ok((await collections.fresh('/a/'))!.read(prefixRange('/a/'), 0).revision >= revision);
  } finally {
    collections.close();
    await store.close();
  }
});

test('a collection is what the store has, through any sequence of changes', async () => {
  const store = await openMemoryStore();
  const collection = new Collection(store, '/a/', await filledFrom(store, '/a/'));
  try {
    for (let at = 0; at < 200; at++) {
      const key = `/a/${(at * 7) % 13}`;
      await store.commit([at % 3 === 2 ? { type: 'delete', key } : put(key, at)]);
      if (at % 20 !== 0) continue;
      await collection.fresh();
      const { entries, revision } = collection.read(prefixRange('/a/'), 0);
      const expected = await store.range(prefixRange('/a/'), { atRevision: revision });
      assert.deepEqual(entries, expected.entries);
      const bytes = expected.entries.reduce((sum, { key: name, value }) => sum + name.length + value.length, 0);
      assert.equal(collection.bytes, bytes);
      assert.equal(
        collection.count(prefixRange('/a/1')),
        expected.entries.filter((one) => one.key.startsWith('/a/1')).length,
      );
    }
  } finally {
    collection.close();
    await store.close();
  }
});

test('a limit cuts, and says whether there is more', async () => {
  const store = await openMemoryStore();
  await store.commit([put('/a/1'), put('/a/2'), put('/a/3')]);
  const collection = new Collection(store, '/a/', await filledFrom(store, '/a/'));
  try {
    const read = (limit: number) => {
      const { entries, more } = collection.read(prefixRange('/a/'), limit);
      return [entries.length, more];
    };
    assert.deepEqual(
      [read(0), read(2), read(3), read(4)],
      [
        [3, false],
        [2, true],
        [3, false],
        [3, false],
      ],
    );
  } finally {
    collection.close();
    await store.close();
  }
});

test('what was made of an earlier state is not kept', async () => {
  const store = await openMemoryStore();
  await store.commit([put('/a/1', 100)]);
  const collection = new Collection(store, '/a/', await filledFrom(store, '/a/'));
  try {
    const early = collection.derived('x');
    await store.commit([put('/a/2')]);
    await collection.fresh();
    early.keep([Buffer.alloc(10)]);
    assert.equal(collection.derived('x').get(), undefined);
  } finally {
    collection.close();
    await store.close();
  }
});

test('what was derived is made once, and anew after a change', async () => {
  const store = await openMemoryStore();
  await store.commit([put('/a/1', 100)]);
  const collection = new Collection(store, '/a/', await filledFrom(store, '/a/'));
  let made = 0;
  const derive = (name: string, bytes = 10): void => {
    const derived = collection.derived(name);
    if (derived.get()) return;
    made++;
    derived.keep([Buffer.alloc(bytes)]);
  };
  try {
    derive('x');
    derive('x');
    assert.equal(made, 1);
    await store.commit([put('/a/2')]);
    await collection.fresh();
    derive('x');
    assert.equal(made, 2);
    derive('huge', 10_000);
    derive('huge', 10_000);
    assert.equal(made, 4, 'what is much larger than the objects is not kept');
    assert.ok(collection.bytes < 1_000);
  } finally {
    collection.close();
    await store.close();
  }
});

test('those that were not read for the longest time go first, and come back when they are read', async () => {
  const { store, open } = observed(await openMemoryStore());
  const collections = new Collections(store, new CacheBudget(100_000), systemClock);
  try {
    for (const name of ['a', 'b', 'c']) await store.commit([put(`/${name}/1`, 40_000)]);
    await collections.fresh('/a/');
    await collections.fresh('/b/');
    await collections.fresh('/a/');
    await collections.fresh('/c/');
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(open.size, 2, 'no more than fits is kept');
    assert.deepEqual(keysOf((await collections.fresh('/b/'))!, '/b/'), ['/b/1']);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(open.size, 2);
  } finally {
    collections.close();
    await store.close();
  }
});

test('what is larger than half of the budget is not kept, nor what becomes larger than all of it', async () => {
  const { store, open } = observed(await openMemoryStore());
  const collections = new Collections(store, new CacheBudget(400_000), systemClock);
  try {
    await store.commit([put('/large/1', 250_000)]);
    assert.equal(await collections.fresh('/large/'), undefined);
    assert.equal(open.size, 0);
    await store.commit([put('/a/0')]);
    assert.ok(await collections.fresh('/a/'));
    for (let at = 0; at < 10; at++) await store.commit([put(`/a/${at}`, 100_000)]);
    for (let turn = 0; turn < 100 && open.size > 0; turn++) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(open.size, 0, 'nobody reads it, and still it does not stay');
    assert.equal(await collections.fresh('/a/'), undefined);
  } finally {
    collections.close();
    await store.close();
  }
});

test('a collection whose watch fails is opened anew, once, whoever asks', async () => {
  const { store, open, breakAll } = observed(await openMemoryStore());
  const collections = new Collections(store, new CacheBudget(mebibyte), systemClock);
  try {
    await store.commit([put('/a/1')]);
    await collections.fresh('/a/');
    breakAll();
    await store.commit([put('/a/2')]);
    const all = await Promise.all(Array.from({ length: 5 }, () => collections.fresh('/a/')));
    for (const one of all) assert.deepEqual(keysOf(one!, '/a/'), ['/a/1', '/a/2']);
    assert.equal(open.size, 1);
  } finally {
    collections.close();
    await store.close();
  }
});

test('who waits for a collection that is given up is told to read the store', async () => {
  const { store, breakAll } = observed(await openMemoryStore());
  // The collection never receives the committed events, so it waits.
  const deaf = new Proxy(store, {
    get: (target, name) => {
      if (name === 'revision') return async () => ((await target.revision()) + 1_000) as Revision;
      const value = Reflect.get(target, name) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const collections = new Collections(deaf, new CacheBudget(mebibyte), systemClock);
  try {
    await store.commit([put('/a/1')]);
    const waiting = collections.fresh('/a/');
    for (let turn = 0; turn < 20; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      breakAll();
    }
    assert.equal(await waiting, undefined);
  } finally {
    collections.close();
    await store.close();
  }
});

test('a store that cannot be asked fails the read, and not the next one', async () => {
  const store = await openMemoryStore();
  let isCut = true;
  const cut = new Proxy(store, {
    get: (target, name) => {
      if (name === 'range' && isCut) return () => Promise.reject(new Error('cut off'));
      const value = Reflect.get(target, name) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const collections = new Collections(cut, new CacheBudget(mebibyte), systemClock);
  try {
    await assert.rejects(collections.fresh('/a/'), /cut off/);
    isCut = false;
    assert.ok(await collections.fresh('/a/'));
  } finally {
    collections.close();
    await store.close();
  }
});

test('one budget is for all control planes: whose collections were not read for the longest time goes first', async () => {
  const { store, open } = observed(await openMemoryStore());
  const budget = new CacheBudget(200_000);
  const planes = Array.from({ length: 10 }, () => new Collections(store, budget, systemClock));
  try {
    for (let at = 0; at < planes.length; at++) await store.commit([put(`/t${at}/a/1`, 40_000)]);
    for (const [at, plane] of planes.entries()) {
      assert.ok(await plane.fresh(`/t${at}/a/`));
      // The first one is used repeatedly, so it is kept.
      assert.ok(planes[0]!.peek('/t0/a/'));
      assert.ok(budget.bytes <= budget.bytesMax);
    }
    assert.equal(open.size, 4);
    assert.equal(budget.count, 4);
    const kept = planes.map((plane, at) => [at, budget.count, plane.peek(`/t${at}/a/`) !== undefined] as const);
    assert.equal(kept[0]![2], true, 'used with each turn');
    assert.equal(kept[1]![2], false);
  } finally {
    for (const plane of planes) plane.close();
    await store.close();
  }
});

test('a control plane that is closed gives its memory back, holds no watch, and gets none any more', async () => {
  const { store, open } = observed(await openMemoryStore());
  const budget = new CacheBudget(mebibyte);
  const [one, other] = [new Collections(store, budget, systemClock), new Collections(store, budget, systemClock)];
  try {
    await store.commit([put('/a/1', 1_000), put('/b/1', 1_000)]);
    await one.fresh('/a/');
    await other.fresh('/b/');
    const both = budget.bytes;
    // It is being read while its control plane is closed.
    const late = one.fresh('/c/');
    one.close();
    assert.equal(await late, undefined);
    assert.equal(await one.fresh('/a/'), undefined);
    assert.equal(one.peek('/a/'), undefined);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([open.size, budget.count], [1, 1]);
    assert.equal(budget.bytes, both / 2);
    other.close();
    assert.deepEqual([open.size, budget.count, budget.bytes], [0, 0, 0]);
  } finally {
    await store.close();
  }
});

test('a collection that fails gives its memory back before anybody asks for it again', async () => {
  const { store, breakAll } = observed(await openMemoryStore());
  const budget = new CacheBudget(mebibyte);
  const collections = new Collections(store, budget, systemClock);
  try {
    await store.commit([put('/a/1')]);
    await collections.fresh('/a/');
    assert.equal(budget.count, 1);
    breakAll();
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([budget.count, budget.bytes], [0, 0]);
  } finally {
    collections.close();
    await store.close();
  }
});

test('what grows is counted as it grows, however little at a time, and what shrinks is given back', async () => {
  const store = await openMemoryStore();
  const budget = new CacheBudget(mebibyte);
  const collections = new Collections(store, budget, systemClock);
  try {
    await collections.fresh('/a/');
    const empty = budget.bytes;
    for (let at = 0; at < 20; at++) await store.commit([put(`/a/${at}`, 1_000)]);
    await collections.fresh('/a/');
    assert.ok(budget.bytes - empty >= 20_000);
    for (let at = 0; at < 20; at++) await store.commit([{ type: 'delete', key: `/a/${at}` }]);
    await collections.fresh('/a/');
    assert.equal(budget.bytes, empty);
  } finally {
    collections.close();
    await store.close();
  }
});

test('a small value keeps no large piece of memory that it was cut from', async () => {
  const store = await openMemoryStore();
  const piece = Buffer.alloc(1_000_000, 0x61);
  const cut = (key: string, from: number) => ({ type: 'put' as const, key, value: piece.subarray(from, from + 100) });
  await store.commit([cut('/a/1', 0)]);
  const collection = new Collection(store, '/a/', await filledFrom(store, '/a/'));
  try {
    await store.commit([cut('/a/2', 100)]);
    await collection.fresh();
    const { entries } = collection.read(prefixRange('/a/'), 0);
    assert.equal(entries.length, 2);
    for (const { value } of entries) {
      assert.equal(Buffer.from(value).toString(), 'a'.repeat(100));
      assert.ok(value.buffer.byteLength < 2_000);
    }
  } finally {
    collection.close();
    await store.close();
  }
});

test('a large collection is read in slices, and has the writes that were made meanwhile', async () => {
  const store = await openMemoryStore();
  let nowMs = 0;
  let pauses = 0;
  // Every reading of the clock takes a millisecond.
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => ++nowMs,
    soon: (callback) => {
      if (++pauses === 2) void store.commit([put('/a/meanwhile')]);
      return systemClock.soon(callback);
    },
  };
  const collections = new Collections(store, new CacheBudget(mebibyte), clock);
  try {
    for (let n = 0; n < 3; n++) await store.commit(Array.from({ length: 50 }, (_, at) => put(`/a/${n}-${at}`)));
    const collection = await collections.fresh('/a/');
    assert.ok(pauses > 10, `${pauses} pauses`);
    assert.equal(collection?.size, 151);
    assert.equal(
      collection.bytes,
      keysOf(collection, '/a/').reduce((sum, key) => sum + key.length + 10, 0),
    );
  } finally {
    collections.close();
    await store.close();
  }
});
