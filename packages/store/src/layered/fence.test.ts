import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { absent } from '../contract.ts';
import type { Revision, Store, StoreEvent, Write } from '../contract.ts';
import { openMemoryStore } from '../drivers/memory/memory-store.ts';
import { everything, prefixRange } from '../keys.ts';
import { transactionWritesMax } from '../limits.ts';
import { BaseLayer } from './base-layer.ts';
import { layeredStore } from './layered-store.ts';

const prefix = '/registry/clusters/demo/';
const fenceKey = `${prefix}.hangar/tenant`;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const base = new BaseLayer([{ key: 'namespaces/default', value: bytes('base') }]);

const put = (key: string, expected?: Revision): Write => ({
  type: 'put',
  key: prefix + key,
  value: bytes('own'),
  ...(expected === undefined ? {} : { expected }),
});

async function fenced(): Promise<{ store: Store; view: Store; revision: Revision }> {
  const store = await openMemoryStore();
  const { revision } = await store.commit([{ type: 'put', key: fenceKey, value: bytes('born') }]);
  const fence = { key: fenceKey, revision };
  return { store, view: layeredStore({ store, prefix, base, baseRevision: revision, fence }), revision };
}

const downs: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  'is destroyed': (store) => store.commit([{ type: 'deleteRange', range: prefixRange(prefix) }]),
  'is destroyed and made anew': async (store) => {
    await store.commit([{ type: 'deleteRange', range: prefixRange(prefix) }]);
    await store.commit([{ type: 'put', key: fenceKey, value: bytes('born'), expected: absent }]);
  },
};

for (const [what, fell] of Object.entries(downs)) {
  describe(`when the tenant of a view ${what}`, () => {
    const attempts: Readonly<Record<string, readonly Write[]>> = {
      'a new key': [put('configmaps/a')],
      'a base key': [put('namespaces/default')],
      'a deletion of a base key': [{ type: 'delete', key: `${prefix}namespaces/default` }],
      'a deletion of everything': [{ type: 'deleteRange', range: everything }],
      'a deletion outside of the view': [{ type: 'deleteRange', range: { start: '/other', end: '/others' } }],
      'a condition alone': [{ type: 'check', key: `${prefix}configmaps/a`, expected: absent }],
      'a conflict besides': [put('configmaps/a', 7 as Revision), put('configmaps/b')],
      'a conflict of a base key besides': [put('namespaces/default', absent)],
      'all the writes there may be': Array.from({ length: transactionWritesMax }, (_, at) => put(`configmaps/c${at}`)),
    };
    for (const [name, writes] of Object.entries(attempts)) {
      test(`${name} is refused, and nothing is written`, async () => {
        const { store, view } = await fenced();
        await fell(store);
        const revision = await store.revision();
        const { entries } = await store.range(everything);
        await assert.rejects(view.commit(writes), { code: 'Fenced' });
        assert.equal(await store.revision(), revision);
        assert.deepEqual((await store.range(everything)).entries, entries);
      });
    }

    test('a watch of it tells that all went, and ends', async () => {
      const { store, view } = await fenced();
      const watch = view.watch({ prefix: `${prefix}configmaps/` });
      await view.commit([put('configmaps/a')]);
      await fell(store);
      await store.commit([put('configmaps/of-another')]);
      const types: string[] = [];
      while (types.length < 2) types.push(...(await watch.next())!.events.map(({ type }) => type));
      assert.deepEqual(types, ['put', 'delete']);
      await assert.rejects(watch.next(), { code: 'Fenced' });
      await assert.rejects(watch.next(), { code: 'Fenced' }, 'it stays so');
    });

    test('a watch ends with Fenced when the view is closed after a call noticed it', async () => {
      const { store, view } = await fenced();
      const watch = view.watch({ prefix: `${prefix}configmaps/` });
      await fell(store);
      await assert.rejects(view.get(`${prefix}configmaps/a`), { code: 'Fenced' });
      await view.close();
      await assert.rejects(watch.next(), { code: 'Fenced' });
    });

    test('nothing can be read any more, and a watch that begins afterwards tells nothing', async () => {
      const { store, view } = await fenced();
      const { revision } = await view.commit([put('configmaps/a')]);
      await fell(store);
      const watches = [undefined, revision].map((fromRevision) =>
        view.watch({ prefix, ...(fromRevision === undefined ? {} : { fromRevision }) }),
      );
      await store.commit([put('configmaps/of-another')]);
      for (const key of ['configmaps/of-another', 'configmaps/a', 'namespaces/default']) {
        await assert.rejects(view.get(prefix + key), { code: 'Fenced' });
      }
      await assert.rejects(view.range(prefixRange(prefix)), { code: 'Fenced' });
      await assert.rejects(view.range(prefixRange(prefix), { atRevision: revision }), { code: 'Fenced' });
      await assert.rejects(view.statistics(prefixRange(prefix)), { code: 'Fenced' });
      for (const watch of watches) {
        const seen: string[] = [];
        const all = async (): Promise<void> => {
          for await (const { events } of watch) {
            for (const event of events) seen.push(event.type === 'put' ? event.entry.key : event.key);
          }
        };
        await assert.rejects(all(), { code: 'Fenced' });
        assert.ok(!seen.includes(`${prefix}configmaps/of-another`), seen.join());
      }
    });
  });
}

describe('what was before the fence', () => {
  test('is nobody’s to read: it may have been another tenant’s', async () => {
    const { store, view: former } = await fenced();
    const { revision: secret } = await former.commit([put('secrets/former')]);
    await store.commit([{ type: 'deleteRange', range: prefixRange(prefix) }]);
    const { revision } = await store.commit([{ type: 'put', key: fenceKey, value: bytes('born') }]);
    const view = layeredStore({ store, prefix, base, baseRevision: revision, fence: { key: fenceKey, revision } });
    const atRevision = secret;
    await assert.rejects(view.get(`${prefix}secrets/former`, { atRevision }), { code: 'Compacted' });
    await assert.rejects(view.get(`${prefix}namespaces/default`, { atRevision }), { code: 'Compacted' });
    await assert.rejects(view.range(everything, { atRevision }), { code: 'Compacted' });
    await assert.rejects(view.statistics(everything, { atRevision }), { code: 'Compacted' });
    const early = view.watch({ prefix, fromRevision: secret, previous: true });
    await assert.rejects(early.next(), { code: 'Compacted' });
    await assert.rejects(early.next(), { code: 'Compacted' }, 'it stays so');
    assert.equal((await view.range(everything, { atRevision: revision })).entries.length, base.size + 1);
    const watch = view.watch({ prefix: `${prefix}secrets/`, fromRevision: revision, previous: true });
    await view.commit([put('secrets/mine')]);
    const batch = await watch.next();
    assert.deepEqual(
      batch!.events.map((event) => event.type === 'put' && [event.entry.key, event.previous]),
      [[`${prefix}secrets/mine`, undefined]],
    );
    watch.close();
  });
});

describe('while its fence stands', () => {
  test('a view writes, and reports conflicts of its keys as conflicts', async () => {
    const { view, revision } = await fenced();
    assert.ok((await view.commit([put('namespaces/default', revision), put('configmaps/a', absent)])).committed);
    const again = await view.commit([put('namespaces/default', revision), put('configmaps/a', absent)]);
    assert.ok(!again.committed);
    assert.deepEqual(
      again.conflicts.map(({ key }) => key),
      [`${prefix}namespaces/default`, `${prefix}configmaps/a`],
    );
    const own = await view.commit([put('configmaps/a', absent)]);
    assert.deepEqual(
      !own.committed && own.conflicts.map(({ key }) => key),
      [`${prefix}configmaps/a`],
      'the fence is not among them',
    );
  });

  test('what changes nothing takes no revision', async () => {
    const { store, view } = await fenced();
    const revision = await store.revision();
    const result = await view.commit([{ type: 'delete', key: `${prefix}configmaps/none` }]);
    assert.deepEqual(result, { committed: true, revision, deleted: 0 });
  });

  test('a view cannot write the fence itself, nor have more conditions than the store has room for', async () => {
    const { view, revision } = await fenced();
    await assert.rejects(view.commit([put('.hangar/tenant')]), { code: 'InvalidRequest' });
    await assert.rejects(view.commit([{ type: 'check', key: fenceKey, expected: revision }]), {
      code: 'InvalidRequest',
    });
    const all = Array.from({ length: transactionWritesMax }, (_, at) => put(`configmaps/c${at}`, absent));
    await assert.rejects(view.commit(all), { code: 'InvalidRequest', message: /at most 127 conditions/ });
    assert.ok((await view.commit(all.slice(1))).committed);
  });
});

describe('a view whose fence was rewritten for the same tenant', () => {
  const keysOf = (batch: { readonly events: readonly StoreEvent[] } | undefined): string[] =>
    batch!.events.map((event) => (event.type === 'put' ? event.entry.key : event.key).slice(prefix.length));

  test('reads its history since the first value of the fence', async () => {
    const { store, view: before, revision: since } = await fenced();
    const { revision: written } = await before.commit([put('configmaps/a')]);
    const { revision } = await store.commit([{ type: 'put', key: fenceKey, value: bytes('held') }]);
    const fence = { key: fenceKey, revision, since };
    const view = layeredStore({ store, prefix, base, baseRevision: since, fence });
    const { entry } = await view.get(`${prefix}namespaces/default`, { atRevision: since });
    assert.equal(entry?.modRevision, since, 'base entries keep their revision');
    const watch = view.watch({ prefix, fromRevision: written });
    assert.deepEqual(keysOf(await watch.next()), ['configmaps/a']);
    await view.commit([put('configmaps/b')]);
    let batch = await watch.next();
    // The value of the fence itself is an ordinary event of this prefix.
    while (keysOf(batch)[0] === '.hangar/tenant') batch = await watch.next();
    assert.deepEqual(keysOf(batch), ['configmaps/b']);
    watch.close();
    const early = view.watch({ prefix, fromRevision: (since - 1) as Revision });
    await assert.rejects(early.next(), { code: 'Compacted' });
    await assert.rejects(before.commit([put('configmaps/c')]), { code: 'Fenced' });
  });

  test('resumes watches after a gap without changes, and refuses earlier ones', async () => {
    const { store } = await fenced();
    const { revision: last } = await store.commit([put('configmaps/old')]);
    await store.commit([{ type: 'delete', key: `${prefix}configmaps/old` }]);
    const { revision } = await store.commit([{ type: 'put', key: fenceKey, value: bytes('received') }]);
    const resumesFrom = (last + 1) as Revision;
    const fence = { key: fenceKey, revision, resumesFrom };
    const view = layeredStore({ store, prefix, base, baseRevision: revision, fence });
    const { revision: written } = await view.commit([put('configmaps/new')]);
    for (const fromRevision of [resumesFrom, revision]) {
      const watch = view.watch({ prefix, fromRevision });
      const batch = await watch.next();
      assert.deepEqual([batch!.revision, keysOf(batch)], [written, ['configmaps/new']]);
      watch.close();
    }
    const early = view.watch({ prefix, fromRevision: last });
    await assert.rejects(early.next(), { code: 'Compacted' });
    await assert.rejects(view.get(`${prefix}configmaps/old`, { atRevision: last }), { code: 'Compacted' });
  });

  test('stays readable while the values continue it, and never writes', async () => {
    const { store, revision } = await fenced();
    const continues = (value: Uint8Array): boolean => Buffer.from(value).toString() === 'held';
    const fence = { key: fenceKey, revision, continues };
    const view = layeredStore({ store, prefix, base, baseRevision: revision, fence });
    const watch = view.watch({ prefix: `${prefix}configmaps/` });
    await store.commit([put('configmaps/a')]);
    await store.commit([{ type: 'put', key: fenceKey, value: bytes('held') }]);
    await store.commit([put('configmaps/b')]);
    assert.deepEqual([keysOf(await watch.next()), keysOf(await watch.next())], [['configmaps/a'], ['configmaps/b']]);
    assert.ok((await view.get(`${prefix}configmaps/b`)).entry);
    await assert.rejects(view.commit([put('configmaps/c')]), { code: 'Fenced' });
    await store.commit([{ type: 'put', key: fenceKey, value: bytes('another tenant') }]);
    await assert.rejects(watch.next(), { code: 'Fenced' });
    await assert.rejects(view.get(`${prefix}configmaps/b`), { code: 'Fenced' });
  });

  test('ends its watches with a mark at the revision from which they can resume', async () => {
    const { store, revision } = await fenced();
    const isResumable = (value: Uint8Array): boolean => Buffer.from(value).toString() === 'held';
    const view = layeredStore({
      store,
      prefix,
      base,
      baseRevision: revision,
      fence: { key: fenceKey, revision, isResumable },
    });
    const live = view.watch({ prefix: `${prefix}configmaps/` });
    await view.commit([put('configmaps/a')]);
    await live.next();
    const behind = view.watch({ prefix: `${prefix}configmaps/`, fromRevision: revision });
    const { revision: held } = await store.commit([{ type: 'put', key: fenceKey, value: bytes('held') }]);
    assert.deepEqual(await live.next(), { revision: held, events: [] });
    assert.deepEqual(keysOf(await behind.next()), ['configmaps/a']);
    assert.deepEqual(await behind.next(), { revision: held, events: [] });
    for (const watch of [live, behind]) await assert.rejects(watch.next(), { code: 'Fenced' });
  });

  test('ends its watches without a mark if the tenant is another one', async () => {
    const { store, revision } = await fenced();
    const fence = { key: fenceKey, revision, isResumable: () => false };
    const view = layeredStore({ store, prefix, base, baseRevision: revision, fence });
    const watch = view.watch({ prefix: `${prefix}configmaps/` });
    await store.commit([{ type: 'put', key: fenceKey, value: bytes('another tenant') }]);
    await assert.rejects(watch.next(), { code: 'Fenced' });
  });
});
