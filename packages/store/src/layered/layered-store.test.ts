import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { absent } from '../contract.ts';
import type { Entry, Revision, Store, StoreEvent, Write } from '../contract.ts';
import { openMemoryStore } from '../drivers/memory/memory-store.ts';
import { everything, prefixRange } from '../keys.ts';
import { BaseLayer } from './base-layer.ts';
import { layeredStore } from './layered-store.ts';

const prefix = '/registry/clusters/demo/';
const bytes = (text: string) => new TextEncoder().encode(text);
const text = (value: Uint8Array) => new TextDecoder().decode(value);

const base = new BaseLayer(
  ['namespaces/default', 'namespaces/kube-public', 'namespaces/kube-system', 'clusterroles/admin'].map((key) => ({
    key,
    value: bytes(`base ${key}`),
  })),
);

async function tenant(name = 'demo'): Promise<{ store: Store; view: Store; baseRevision: Revision; at: string }> {
  const store = await openMemoryStore();
  const at = `/registry/clusters/${name}/`;
  const { revision } = await store.commit([{ type: 'put', key: '/tenants/demo', value: bytes('made') }]);
  return { store, view: layeredStore({ store, prefix: at, base, baseRevision: revision }), baseRevision: revision, at };
}

const keysOf = (entries: readonly Entry[]) => entries.map((entry) => entry.key.slice(prefix.length));
const put = (key: string, value: string, expected?: Revision): Write => ({
  type: 'put',
  key: prefix + key,
  value: bytes(value),
  ...(expected !== undefined && { expected }),
});

describe('base entries', () => {
  test('a new tenant has all of them at the revision of its birth, and has written none', async () => {
    const { store, view, baseRevision } = await tenant();
    const { entries } = await view.range(prefixRange(prefix));
    assert.deepEqual(keysOf(entries), [
      'clusterroles/admin',
      'namespaces/default',
      'namespaces/kube-public',
      'namespaces/kube-system',
    ]);
    assert.ok(entries.every((entry) => entry.modRevision === baseRevision && text(entry.value).startsWith('base ')));
    assert.equal((await store.range(prefixRange(prefix))).entries.length, 0);
  });

  test('they were not there before the tenant was', async () => {
    const { view, baseRevision } = await tenant();
    const before = { atRevision: (baseRevision - 1) as Revision };
    assert.equal((await view.get(`${prefix}namespaces/default`, before)).entry, undefined);
    assert.equal((await view.range(everything, before)).entries.length, 0);
  });

  test('a change replaces one for this tenant only, under its modRevision as a condition', async () => {
    const { store, view, baseRevision } = await tenant();
    const other = layeredStore({ store, prefix: '/registry/clusters/other/', base, baseRevision });
    const stale = await view.commit([put('namespaces/default', 'changed', (baseRevision - 1) as Revision)]);
    assert.equal(stale.committed, false);
    const result = await view.commit([put('namespaces/default', 'changed', baseRevision)]);
    assert.equal(result.committed, true);
    assert.equal(text((await view.get(`${prefix}namespaces/default`)).entry!.value), 'changed');
    const neighbour = await other.get('/registry/clusters/other/namespaces/default');
    assert.equal(text(neighbour.entry!.value), 'base namespaces/default');
    assert.equal(
      text((await view.get(`${prefix}namespaces/default`, { atRevision: baseRevision })).entry!.value),
      'base namespaces/default',
    );
  });

  test('create-if-absent finds them', async () => {
    const { view } = await tenant();
    const result = await view.commit([
      put('namespaces/default', 'mine', absent),
      put('namespaces/new', 'mine', absent),
    ]);
    assert.ok(!result.committed);
    assert.deepEqual(
      result.conflicts.map((conflict) => text(conflict.entry!.value)),
      ['base namespaces/default'],
    );
    assert.equal((await view.get(`${prefix}namespaces/new`)).entry, undefined);
  });

  test('a deleted one is gone from every read, comes back only by a put, and can be deleted again', async () => {
    const { view, store } = await tenant();
    const key = `${prefix}namespaces/kube-public`;
    for (let round = 0; round < 3; round++) {
      assert.equal((await view.commit([{ type: 'delete', key }])).committed && true, true);
      assert.equal((await view.get(key)).entry, undefined);
      assert.deepEqual(keysOf((await view.range(prefixRange(`${prefix}namespaces/`))).entries), [
        'namespaces/default',
        'namespaces/kube-system',
      ]);
      assert.equal((await view.statistics(everything)).keys, 3);
      const again = await view.commit([{ type: 'delete', key }]);
      assert.deepEqual([again.committed, again.committed && again.deleted], [true, 0]);
      const created = await view.commit([put('namespaces/kube-public', `round ${round}`, absent)]);
      assert.deepEqual([created.committed, created.committed && created.deleted], [true, 0]);
      assert.equal(text((await view.get(key)).entry!.value), `round ${round}`);
    }
    // No tombstone is left beside an own entry.
    assert.deepEqual((await store.range(prefixRange(`${prefix}.hidden/`))).entries, []);
  });

  test('a range delete takes own and base entries alike and counts each once', async () => {
    const { view } = await tenant();
    await view.commit([put('namespaces/default', 'changed'), put('namespaces/own', 'own')]);
    const result = await view.commit([{ type: 'deleteRange', range: prefixRange(`${prefix}namespaces/`) }]);
    assert.ok(result.committed);
    assert.equal(result.deleted, 4);
    assert.deepEqual(keysOf((await view.range(everything)).entries), ['clusterroles/admin']);
  });

  test('limits and pages run through own and base entries as one list', async () => {
    const { view } = await tenant();
    await view.commit([put('namespaces/a', '1'), put('namespaces/kube-public', '2'), put('zones/z', '3')]);
    await view.commit([{ type: 'delete', key: `${prefix}namespaces/default` }]);
    const all = keysOf((await view.range(everything)).entries);
    assert.deepEqual(all, [
      'clusterroles/admin',
      'namespaces/a',
      'namespaces/kube-public',
      'namespaces/kube-system',
      'zones/z',
    ]);
    for (let limit = 1; limit <= all.length; limit++) {
      const page = await view.range(everything, { limit, keysOnly: true });
      assert.deepEqual(keysOf(page.entries), all.slice(0, limit));
      assert.equal(page.more, limit < all.length);
      assert.ok(page.entries.every((entry) => entry.value.length === 0));
    }
  });

  test('a watch shows a base entry change and go, with what it was before', async () => {
    const { view } = await tenant();
    const watch = view.watch({ prefix: `${prefix}namespaces/`, previous: true });
    await view.commit([put('namespaces/default', 'changed')]);
    await view.commit([
      { type: 'delete', key: `${prefix}namespaces/default` },
      { type: 'delete', key: `${prefix}namespaces/kube-public` },
    ]);
    await view.commit([put('namespaces/kube-public', 'again', absent)]);
    await view.commit([{ type: 'delete', key: `${prefix}clusterroles/admin` }]);
    watch.requestProgress();
    const seen: unknown[] = [];
    for await (const { events } of watch) {
      if (events.length === 0) break;
      seen.push(events.map(brief));
    }
    assert.deepEqual(seen, [
      [['put', 'namespaces/default', 'base namespaces/default']],
      [
        ['delete', 'namespaces/default', 'changed'],
        ['delete', 'namespaces/kube-public', 'base namespaces/kube-public'],
      ],
      [['put', 'namespaces/kube-public', undefined]],
    ]);
  });

  test('they cannot have a lease, whose end would bring them back', async () => {
    const { view } = await tenant();
    const lease = await view.grantLease(60_000);
    const write: Write = { type: 'put', key: `${prefix}namespaces/default`, value: bytes('x'), lease: lease.id };
    await assert.rejects(view.commit([write]), { code: 'InvalidRequest' });
  });

  test('they cannot have restored revisions, because version 1 marks their first change', async () => {
    const { view } = await tenant();
    const restored = { createRevision: 1 as Revision, modRevision: 1 as Revision, version: 3 };
    const write: Write = { type: 'put', key: `${prefix}namespaces/default`, value: bytes('x'), restored };
    await assert.rejects(view.commit([write]), { code: 'InvalidRequest' });
    await view.commit([{ ...write, key: `${prefix}namespaces/new` }]);
    assert.equal((await view.get(`${prefix}namespaces/new`)).entry?.version, 3);
  });
});

describe('the bounds of a view', () => {
  test('keys of others, the prefix itself and tombstones are refused', async () => {
    const { view } = await tenant();
    for (const key of ['/registry/clusters/other/a', prefix, `${prefix}.hidden/namespaces/default`, '/']) {
      await assert.rejects(view.get(key), { code: 'InvalidKey' }, key);
      await assert.rejects(view.commit([{ type: 'delete', key }]), { code: 'InvalidKey' }, key);
    }
  });

  test('a range that goes beyond them is cut', async () => {
    const { store, view } = await tenant();
    await store.commit([{ type: 'put', key: '/registry/clusters/demo2/x', value: bytes('not yours') }]);
    assert.equal((await view.range(everything)).entries.length, base.size);
    assert.equal((await view.range({ start: '/registry/clusters/demo0' })).entries.length, 0);
    const result = await view.commit([{ type: 'deleteRange', range: everything }]);
    assert.deepEqual([result.committed, result.committed && result.deleted], [true, base.size]);
    assert.ok((await store.get('/registry/clusters/demo2/x')).entry);
  });

  test('concurrent changes of one base entry are applied one after the other', async () => {
    const { view, baseRevision } = await tenant();
    const attempts = Array.from({ length: 20 }, (_, n) =>
      view.commit([put('namespaces/default', `writer ${n}`, baseRevision)]),
    );
    const won = (await Promise.all(attempts)).filter((result) => result.committed);
    assert.equal(won.length, 1);
  });
});

function brief(event: StoreEvent): [string, string, string | undefined] {
  const key = event.type === 'put' ? event.entry.key : event.key;
  return [event.type, key.slice(prefix.length), event.previous && text(event.previous.value)];
}

test('a copy of a base entry with its revisions changes nothing, and later changes continue its version', async () => {
  const { store, view, baseRevision } = await tenant();
  const key = `${prefix}namespaces/default`;
  const before = (await view.range(prefixRange(prefix))).entries;
  const watch = view.watch({ prefix: `${prefix}namespaces/`, previous: true });
  const restored = { createRevision: baseRevision, modRevision: baseRevision, version: 1 };
  await store.commit([{ type: 'put', key, value: bytes('base namespaces/default'), expected: absent, restored }]);
  assert.deepEqual((await view.range(prefixRange(prefix))).entries, before);
  const { revision } = await view.commit([put('namespaces/default', 'changed', baseRevision)]);
  const { entry } = await view.get(key);
  assert.deepEqual([entry!.createRevision, entry!.modRevision, entry!.version], [baseRevision, revision, 2]);
  const batch = await watch.next();
  assert.equal(batch!.revision, revision, 'the copy is no event');
  assert.equal(text(batch!.events[0]!.previous!.value), 'base namespaces/default');
  watch.close();
  assert.equal((await view.commit([{ type: 'delete', key }])).committed, true);
  assert.equal((await view.get(key)).entry, undefined);
});
