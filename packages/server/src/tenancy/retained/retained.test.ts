import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everything } from '@hangar/store';
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
  assert.match(metadata.uid, /^[0-9a-f-]{36}$/);
  for (const name of ['blue', 'gone', 'nope', 'root']) await server.expect(404, 'GET', `${retained}/${name}`);
  const table = await server.expect(200, 'GET', retained, {
    headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
  });
  assert.deepEqual(
    table.columnDefinitions.map(({ name }: { name: string }) => name),
    ['Name', 'Objects', 'Bytes', 'Age'],
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
  // A new tenant of a purged path begins empty.
  await server.expect(404, 'GET', `${await server.make('demo')}${configMaps}/a`);
});

test('it can be read and deleted alone, by those who may', async () => {
  await using server = await TenancyServer.open();
  const { resources } = await server.expect(200, 'GET', '/apis/tenancy.hangar.dev/v1alpha1');
  const { verbs } = resources.find(({ name }: { name: string }) => name === 'retainedtenants');
  assert.deepEqual(verbs.toSorted(), ['delete', 'deletecollection', 'get', 'list']);
  const body = { kind: 'RetainedTenant', apiVersion: 'tenancy.hangar.dev/v1alpha1', metadata: { name: 'x' } };
  await server.expect(405, 'POST', retained, { body });
  await server.expect(401, 'GET', retained, { token: null });
});
