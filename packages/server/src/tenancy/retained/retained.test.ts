import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everything, openMemoryStore } from '@hangar/store';
import type { Store, Write } from '@hangar/store';
import { ForwardingStore } from '../../objects/forwarding-store.ts';
import { tenants, TenancyServer } from '../../testing/tenancy-server.ts';
import { configMap, configMaps } from '../../testing/test-server.ts';

const retained = '/apis/tenancy.hangar.dev/v1alpha1/retainedtenants';

const pathsOf = async (server: TenancyServer): Promise<string[]> =>
  (await server.expect(200, 'GET', retained)).items.map((one: { metadata: { name: string } }) => one.metadata.name);

const keysOf = async (server: TenancyServer, path: string): Promise<string[]> =>
  (await server.store.range(everything, { keysOnly: true })).entries
    .map(({ key }) => key)
    .filter((key) => key.startsWith(`/registry/clusters/${path}/`));

test('data of deleted tenants is listed with size and age, and that of others is not', async () => {
  await using server = await TenancyServer.open();
  for (const name of ['blue', 'red', 'red-2']) {
    const path = await server.make(name);
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a', { k: 'v' }) });
  }
  await server.make('gone', { deletionPolicy: 'Destroy' });
  assert.deepEqual(await pathsOf(server), []);
  for (const name of ['red', 'red-2', 'gone']) await server.expect(200, 'DELETE', `${tenants}/${name}`);
  assert.deepEqual(await pathsOf(server), ['red', 'red-2']);
  const { metadata, status, kind } = await server.expect(200, 'GET', `${retained}/red`);
  assert.equal(kind, 'RetainedTenant');
  assert.equal(status.objects, 1);
  assert.ok(status.storedBytes > 50);
  assert.ok(Math.abs(Date.parse(status.retainedSince) - Date.now()) < 60_000, status.retainedSince);
  assert.equal(status.isMaterialised, false);
  assert.match(metadata.uid, /^[0-9a-f-]{36}$/);
  for (const name of ['blue', 'gone', 'nope', 'root']) await server.expect(404, 'GET', `${retained}/${name}`);
  const table = await server.expect(200, 'GET', retained, {
    headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
  });
  assert.deepEqual(
    table.columnDefinitions.map(({ name }: { name: string }) => name),
    ['Name', 'Objects', 'Bytes', 'Materialised', 'Age'],
  );
});

test('a tenant that takes the data over is no longer retained, and a later deletion has its own time', async () => {
  await using server = await TenancyServer.open();
  const path = await server.make('demo');
  await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
  await server.expect(200, 'DELETE', `${tenants}/demo`);
  await server.make('demo');
  assert.deepEqual(await pathsOf(server), []);
  await server.expect(200, 'GET', `${path}${configMaps}/a`);
  assert.ok(!(await keysOf(server, 'demo')).some((key) => key.endsWith('/.hangar/retained')));
  await server.expect(200, 'DELETE', `${tenants}/demo`);
  assert.deepEqual(await pathsOf(server), ['demo']);
});

test('deleting a RetainedTenant destroys the data, and nothing of a tenant that has taken it over', async () => {
  await using server = await TenancyServer.open();
  for (const name of ['demo', 'demo-2']) {
    const path = await server.make(name);
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    await server.expect(200, 'DELETE', `${tenants}/${name}`);
  }
  const { metadata } = await server.expect(200, 'GET', `${retained}/demo`);
  const other = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'another' } };
  await server.expect(409, 'DELETE', `${retained}/demo`, { body: other });
  const { uid } = metadata;
  await server.expect(200, 'DELETE', `${retained}/demo`, { body: { ...other, preconditions: { uid } } });
  assert.deepEqual(await keysOf(server, 'demo'), []);
  assert.deepEqual(await pathsOf(server), ['demo-2']);
  await server.expect(404, 'DELETE', `${retained}/demo`);
  const path = await server.make('demo-2');
  await server.expect(404, 'DELETE', `${retained}/demo-2`);
  await server.expect(200, 'GET', `${path}${configMaps}/a`);
  // A new tenant at a purged path starts empty.
  await server.expect(404, 'GET', `${await server.make('demo')}${configMaps}/a`);
});

test('a list reads nothing but pages of keys of tenants that exist', async () => {
  const memory = await openMemoryStore();
  const store = new CountingStore(memory);
  {
    await using server = await TenancyServer.open({ store });
    for (let at = 10; at < 30; at++) await server.make(`live-${at}`);
    // More keys than fit on a page, before and between the others.
    for (const name of ['live-09', 'live-20-gone']) {
      const path = await server.make(name);
      const maps = Array.from({ length: 300 }, (_, at) => configMap(`a${at}`));
      await Promise.all(maps.map((body) => server.expect(201, 'POST', `${path}${configMaps}`, { body })));
    }
    for (const name of ['live-15', 'live-20-gone', 'live-29']) await server.expect(200, 'DELETE', `${tenants}/${name}`);
    store.reads = [];
    assert.deepEqual(await pathsOf(server), ['live-15', 'live-20-gone', 'live-29']);
    const others = store.reads.filter((read) => !/live-(15|20-gone|29)\b/.test(read));
    // Each large range ends a page; the next page begins behind it.
    assert.deepEqual(
      others,
      ['', 'live-090', 'live-20-gone0'].map((start) => `range /registry/clusters/${start}`),
    );
  }
  await memory.close();
});

class CountingStore extends ForwardingStore {
  reads: string[] = [];

  override get(...parameters: Parameters<Store['get']>): ReturnType<Store['get']> {
    this.reads.push(`get ${parameters[0]}`);
    return super.get(...parameters);
  }

  override range(...parameters: Parameters<Store['range']>): ReturnType<Store['range']> {
    this.reads.push(`range ${parameters[0].start}`);
    return super.range(...parameters);
  }
}

test('materialised data is not deleted, because a kube-apiserver may serve it', async () => {
  await using server = await TenancyServer.open();
  for (const name of ['amber', 'blue', 'coral']) {
    await server.make(name);
    if (name !== 'coral') await server.expect(200, 'POST', `${tenants}/${name}/materialise`);
    await server.expect(200, 'DELETE', `${tenants}/${name}`);
  }
  const before = [await keysOf(server, 'amber'), await keysOf(server, 'blue')];
  const { status } = await server.expect(200, 'GET', `${retained}/blue`);
  assert.equal(status.isMaterialised, true);
  for (const query of ['', '?dryRun=All']) {
    const { message, reason } = await server.expect(409, 'DELETE', `${retained}/blue${query}`);
    assert.equal(reason, 'Conflict');
    assert.match(message, /retainedtenants\.tenancy\.hangar\.dev "blue": .* a kube-apiserver may serve it/);
    assert.match(message, /create Tenant "blue" again with spec\.deletionPolicy Destroy and delete it$/);
  }
  // Deleting the collection keeps these, deletes the others, and returns 409.
  assert.match((await server.expect(409, 'DELETE', retained)).message, /"(amber|blue)"/);
  assert.deepEqual(await pathsOf(server), ['amber', 'blue']);
  assert.deepEqual([await keysOf(server, 'amber'), await keysOf(server, 'blue')], before);
  // As the message says.
  await server.make('blue', { deletionPolicy: 'Destroy' });
  await server.expect(200, 'DELETE', `${tenants}/blue`);
  assert.deepEqual(await keysOf(server, 'blue'), []);
  assert.deepEqual(await pathsOf(server), ['amber']);
});

test('a RetainedTenant that is materialised during its deletion is not deleted', async () => {
  const memory = await openMemoryStore();
  const store = new PausingStore(memory);
  {
    await using server = await TenancyServer.open({ store });
    await server.make('demo');
    await server.expect(200, 'DELETE', `${tenants}/demo`);
    store.act = async () => {
      await server.make('demo');
      await server.expect(200, 'POST', `${tenants}/demo/materialise`);
      await server.expect(200, 'DELETE', `${tenants}/demo`);
    };
    const { message } = await server.expect(409, 'DELETE', `${retained}/demo`);
    assert.match(message, /may serve it/);
    assert.equal(store.act, undefined);
    assert.deepEqual(await pathsOf(server), ['demo']);
  }
  await memory.close();
});

/** Calls `act` once, before the next transaction that deletes a range. */
class PausingStore extends ForwardingStore {
  act: (() => Promise<void>) | undefined;

  override async commit(writes: readonly Write[]): ReturnType<Store['commit']> {
    const { act } = this;
    if (act && writes.some(({ type }) => type === 'deleteRange')) {
      this.act = undefined;
      await act();
    }
    return this.store.commit(writes);
  }
}

test('it can be read and deleted alone, by those who may', async () => {
  await using server = await TenancyServer.open();
  const { resources } = await server.expect(200, 'GET', '/apis/tenancy.hangar.dev/v1alpha1');
  const { verbs } = resources.find(({ name }: { name: string }) => name === 'retainedtenants');
  assert.deepEqual(verbs.toSorted(), ['delete', 'deletecollection', 'get', 'list']);
  const body = { kind: 'RetainedTenant', apiVersion: 'tenancy.hangar.dev/v1alpha1', metadata: { name: 'x' } };
  await server.expect(405, 'POST', retained, { body });
  await server.expect(401, 'GET', retained, { token: null });
});
