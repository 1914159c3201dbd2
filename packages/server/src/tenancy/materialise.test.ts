import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openMemoryStore, prefixRange, StoreError } from '@hangar/store';
import type { Store, Write } from '@hangar/store';
import { ForwardingStore } from '../objects/forwarding-store.ts';
import { planePath, tenants, TenancyServer } from '../testing/tenancy-server.ts';
import { configMap, configMaps } from '../testing/test-server.ts';
import type { Data } from '../testing/test-server.ts';
import { backup, restore } from './backup/testing.ts';

const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const namespaces = '/api/v1/namespaces';
const merge = 'application/merge-patch+json';

const prefix = '/registry/clusters/demo/';

/** Returns the keys that a kube-apiserver on this range would find. */
const ownKeys = async (store: Store): Promise<string[]> => {
  const { entries } = await store.range(prefixRange(prefix), { keysOnly: true });
  return entries.map(({ key }) => key.slice(prefix.length)).filter((key) => !key.startsWith('.'));
};

async function itemsOf(server: TenancyServer, target: string): Promise<Data[]> {
  const { items } = await server.expect(200, 'GET', `${planePath('demo')}${target}`);
  for (const { metadata } of items) delete metadata.resourceVersion;
  return items;
}

async function changedTenant(server: TenancyServer): Promise<string> {
  const path = await server.make('demo');
  await server.expect(200, 'DELETE', `${path}${roles}/system:discovery`);
  const body = { metadata: { labels: { changed: 'yes' } } };
  await server.expect(200, 'PATCH', `${path}${namespaces}/kube-public`, { body, contentType: merge });
  await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
  return path;
}

const nameAndUid = ({ metadata }: Data): string => `${metadata.name} ${metadata.uid}`;

const materialise = (server: TenancyServer): Promise<Data> => server.expect(200, 'POST', `${tenants}/demo/materialise`);

describe('a tenant whose base is materialised', () => {
  test('shows the same objects with the same UIDs, and they stand in its own range', async () => {
    await using server = await TenancyServer.open();
    await changedTenant(server);
    const before = [await itemsOf(server, roles), await itemsOf(server, namespaces)];
    assert.ok((await ownKeys(server.store)).length < 5);
    const { status } = await materialise(server);
    assert.equal(status.isMaterialised, true);
    assert.deepEqual([await itemsOf(server, roles), await itemsOf(server, namespaces)], before);
    const keys = await ownKeys(server.store);
    assert.ok(keys.length > 100);
    assert.ok(keys.includes('configmaps/kube-system/extension-apiserver-authentication'));
    assert.ok(keys.includes('clusterroles/admin') && !keys.includes('clusterroles/system:discovery'));
    await server.expect(200, 'GET', `${tenants}/demo`);
    // The stored object equals the served object, at the same revision.
    const { metadata } = await server.expect(200, 'GET', `${planePath('demo')}${roles}/admin`);
    const { entry } = await server.store.get(`${prefix}clusterroles/admin`);
    assert.equal(metadata.resourceVersion, String(entry!.modRevision));
  });

  test('loses what is deleted from then on for good, without a tombstone', async () => {
    await using server = await TenancyServer.open();
    const path = await changedTenant(server);
    await materialise(server);
    await server.expect(200, 'DELETE', `${path}${roles}/edit`);
    await server.expect(404, 'GET', `${path}${roles}/edit`);
    assert.equal((await server.store.get(`${prefix}.hidden/clusterroles/edit`)).entry, undefined);
    // As a kube-apiserver on the range would do.
    await server.store.commit([{ type: 'delete', key: `${prefix}clusterroles/admin` }]);
    await server.expect(404, 'GET', `${path}${roles}/admin`);
    await server.expect(404, 'GET', `${path}${roles}/system:discovery`);
  });

  test('is the same when it is done again', async () => {
    await using server = await TenancyServer.open();
    await changedTenant(server);
    const before = await itemsOf(server, roles);
    await materialise(server);
    const revision = await server.store.revision();
    await materialise(server);
    assert.equal(await server.store.revision(), revision);
    assert.deepEqual(await itemsOf(server, roles), before);
    await server.expect(404, 'POST', `${tenants}/nobody/materialise`);
  });

  test('goes on where it was cut off', async () => {
    const memory = await openMemoryStore();
    const between: { act?: () => Promise<void> } = {};
    {
      await using server = await TenancyServer.open({ store: new PausingStore(memory, between) });
      const path = await changedTenant(server);
      const before = await itemsOf(server, roles);
      between.act = () => Promise.reject(new StoreError('Unavailable', 'no leader'));
      await server.expect(503, 'POST', `${tenants}/demo/materialise`);
      assert.ok((await ownKeys(memory)).length > 50, 'a part is written');
      assert.deepEqual(await itemsOf(server, roles), before);
      // An object that was written and then deleted meanwhile stays deleted.
      await server.expect(200, 'DELETE', `${path}${roles}/system:node`);
      await materialise(server);
      const after = await itemsOf(server, roles);
      assert.deepEqual(
        after,
        before.filter(({ metadata }) => metadata.name !== 'system:node'),
      );
    }
    await memory.close();
  });

  test('is told to watchers as changes, never as deletions', async () => {
    await using server = await TenancyServer.open();
    const path = await changedTenant(server);
    const before = await itemsOf(server, roles);
    const { metadata } = await server.expect(200, 'GET', `${path}${roles}`);
    const watch = await server.watch(`${path}${roles}?watch=true&resourceVersion=${metadata.resourceVersion}`);
    await materialise(server);
    await watch.ended();
    const told = await watch.events(watch.waiting);
    assert.ok(
      told.every(({ type, object }) => type === 'MODIFIED' || type === 'ADDED' || object.reason === 'Expired'),
      JSON.stringify(told.at(-1)),
    );
    // A watch from an earlier revision must relist, because the base changed. No object is missing afterwards.
    const next = await server.watch(`${path}${roles}?watch=true&resourceVersion=${metadata.resourceVersion}`);
    const [event] = await next.events(1);
    assert.equal(event!.object.reason, 'Expired');
    const after = await itemsOf(server, roles);
    assert.deepEqual(after.map(nameAndUid), before.map(nameAndUid));
  });

  test('has what was changed meanwhile as it was changed', async () => {
    const memory = await openMemoryStore();
    const between: { act?: () => Promise<void> } = {};
    const store = new PausingStore(memory, between);
    {
      await using server = await TenancyServer.open({ store });
      const path = await server.make('demo');
      await server.expect(200, 'GET', `${path}${roles}`);
      between.act = async () => {
        await server.expect(200, 'DELETE', `${path}${roles}/system:node`);
        await server.expect(200, 'DELETE', `${path}${roles}/admin`);
        const body = { metadata: { labels: { changed: 'yes' } } };
        await server.expect(200, 'PATCH', `${path}${roles}/view`, { body, contentType: merge });
      };
      await materialise(server);
      assert.equal(between.act, undefined);
      await server.expect(404, 'GET', `${path}${roles}/system:node`);
      await server.expect(404, 'GET', `${path}${roles}/admin`);
      const { metadata } = await server.expect(200, 'GET', `${path}${roles}/view`);
      assert.equal(metadata.labels.changed, 'yes');
    }
    await memory.close();
  });

  test('restored elsewhere it has no base either, and the new address and CA where they were written', async () => {
    await using server = await TenancyServer.open();
    await changedTenant(server);
    await materialise(server);
    const before = await itemsOf(server, roles);
    const file = await backup(server, 'demo');
    const { status, data } = await restore(server, 'copy/restore', file);
    assert.equal(status, 201);
    assert.equal(data.status.isMaterialised, true);
    const copy = (await server.expect(200, 'GET', `${planePath('copy')}${roles}`)).items;
    for (const { metadata } of copy) delete metadata.resourceVersion;
    assert.deepEqual(copy, before);
    const published = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
    const keys = (await server.expect(201, 'POST', `${tenants}/copy/keys`)).status;
    const map = await server.expect(200, 'GET', `${planePath('copy')}${published}`);
    assert.equal(map.data['client-ca-file'], keys.authority.certificate);
    const old = await server.expect(200, 'GET', `${planePath('demo')}${published}`);
    assert.notEqual(map.data['client-ca-file'], old.data['client-ca-file']);
    assert.equal(map.metadata.uid, old.metadata.uid);
    const info = await server.expect(
      200,
      'GET',
      `${planePath('copy')}/api/v1/namespaces/kube-public/configmaps/cluster-info`,
    );
    assert.match(info.data.kubeconfig, /clusters\/copy\/control-plane/);
  });
});

/** Runs `act` once, just before the second transaction that writes base objects. */
class PausingStore extends ForwardingStore {
  readonly #between: { act?: () => Promise<void> };
  #seen = 0;

  constructor(store: Store, between: { act?: () => Promise<void> }) {
    super(store);
    this.#between = between;
  }

  override async commit(writes: readonly Write[]): ReturnType<Store['commit']> {
    const { act } = this.#between;
    if (act && writes.length > 100 && ++this.#seen === 2) {
      delete this.#between.act;
      await act();
    }
    return this.store.commit(writes);
  }
}
