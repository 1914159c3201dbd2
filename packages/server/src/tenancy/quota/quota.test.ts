import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '@hangar/core';
import { openMemoryStore } from '@hangar/store';
import { FairQueue } from '../../fairness/index.ts';
import { TenancyServer, tenants } from '../../testing/tenancy-server.ts';
import { configMap, configMaps, definition, definitions } from '../../testing/test-server.ts';
import type { Data } from '../../testing/test-server.ts';

const merge = 'application/merge-patch+json';
const change = (server: TenancyServer, quota: object | null): Promise<Data> =>
  server.expect(200, 'PATCH', `${tenants}/demo`, { body: { spec: { quota } }, contentType: merge });

describe('a tenant with a quota', () => {
  test('is refused what exceeds it with 403, and nobody else is', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo', { quota: { objects: 2 } });
    const other = await server.make('other');
    for (const name of ['a', 'b']) await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap(name) });
    const refused = await server.expect(403, 'POST', `${path}${configMaps}`, { body: configMap('c') });
    assert.equal(
      refused.message,
      'configmaps "c" is forbidden: exceeded quota: tenant "demo": requested: objects=1, used: objects=2, limited: objects=2',
    );
    assert.equal(refused.details.causes[0].field, 'spec.quota.objects');
    await server.expect(403, 'PATCH', `${path}${configMaps}/c?fieldManager=me`, {
      body: configMap('c'),
      contentType: 'application/apply-patch+yaml',
    });
    await server.expect(409, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    await server.expect(200, 'PATCH', `${path}${configMaps}/a`, { body: { data: { x: 'y' } }, contentType: merge });
    await server.expect(200, 'PATCH', `${path}/api/v1/namespaces/default`, {
      body: { metadata: { labels: { own: 'yes' } } },
      contentType: merge,
    });
    await server.expect(201, 'POST', `${other}${configMaps}`, { body: configMap('c') });
    await server.expect(200, 'DELETE', `${path}${configMaps}/a`);
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('c') });
  });

  test('has another one as soon as its object says so', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo');
    for (const name of ['a', 'b']) await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap(name) });
    await change(server, { objectsPerKind: { configmaps: 2 } });
    await server.expect(403, 'POST', `${path}${configMaps}`, { body: configMap('c') });
    await change(server, { objectsPerKind: { configmaps: 3 } });
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('c') });
    await change(server, null);
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('d') });
  });

  test('of bytes can still delete everything, with finalizers too', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo');
    const held = configMap('held', { k: 'x'.repeat(500) }, { finalizers: ['example.com/x'] });
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: held });
    await change(server, { storedBytes: 100 });
    const grown = { body: { data: { k: 'x'.repeat(600) } }, contentType: merge };
    const refused = await server.expect(403, 'PATCH', `${path}${configMaps}/held`, grown);
    assert.match(
      refused.message,
      /exceeded quota: tenant "demo": requested: storedBytes=\d+, used: storedBytes=\d+, limited: storedBytes=100$/,
    );
    await server.expect(200, 'DELETE', `${path}${configMaps}/held`);
    await server.expect(200, 'PATCH', `${path}${configMaps}/held`, {
      body: { metadata: { finalizers: null } },
      contentType: merge,
    });
    await server.expect(404, 'GET', `${path}${configMaps}/held`);
  });

  test('of bytes cannot be filled with what is on its way out', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo', { quota: { storedBytes: 20_000 } });
    const held = configMap('held', { k: 'x'.repeat(10_000) }, { finalizers: ['example.com/x', 'example.com/y'] });
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: held });
    await server.expect(200, 'DELETE', `${path}${configMaps}/held`);
    const grow = (bytes: number) =>
      server.request('PATCH', `${path}${configMaps}/held`, {
        body: { data: { k: 'x'.repeat(bytes) } },
        contentType: merge,
      });
    for (const bytes of [13_900, 17_800]) assert.equal((await grow(bytes)).status, 200, `${bytes}`);
    for (let bytes = 21_700; bytes < 40_000; bytes += 3_900) assert.equal((await grow(bytes)).status, 403, `${bytes}`);
    // The deletion is still free.
    await change(server, { storedBytes: 100 });
    for (const finalizers of [['example.com/y'], null]) {
      await server.expect(200, 'PATCH', `${path}${configMaps}/held`, {
        body: { metadata: { finalizers } },
        contentType: merge,
      });
    }
    await server.expect(404, 'GET', `${path}${configMaps}/held`);
  });

  test('of bytes counts what grows by a change that deletes something', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo', { quota: { storedBytes: 20_000 } });
    const services = `${path}/api/v1/namespaces/default/services`;
    const service = { metadata: { name: 's' }, spec: { type: 'NodePort', ports: [{ port: 80 }] } };
    await server.expect(201, 'POST', services, { body: service });
    // Releases its address and port.
    const external = (bytes: number): object => ({
      metadata: { annotations: { a: 'x'.repeat(bytes) } },
      spec: { type: 'ExternalName', externalName: 'a.example.com', clusterIP: null, clusterIPs: null, ports: null },
    });
    await server.expect(403, 'PATCH', `${services}/s`, { body: external(200_000), contentType: merge });
    await server.expect(403, 'PATCH', `${services}/kubernetes`, { body: external(200_000), contentType: merge });
    await server.expect(200, 'PATCH', `${services}/s`, { body: external(2_000), contentType: merge });
    const { storedBytes } = (await server.expect(200, 'GET', `${tenants}/demo/usage`)).status;
    assert.ok(storedBytes < 20_000, `${storedBytes}`);
  });

  test('counts custom resources, and their definitions', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo', {
      quota: { objectsPerKind: { 'customresourcedefinitions.apiextensions.k8s.io': 0 } },
    });
    await server.expect(403, 'POST', `${path}${definitions}`, { body: definition() });
  });

  test('counts what other servers write', async () => {
    const store = await openMemoryStore();
    {
      await using one = await TenancyServer.open({ store });
      await using two = await TenancyServer.open({ store });
      const path = await one.make('demo', { quota: { objects: 2 } });
      await two.tenancy.tenants.reached(await store.revision());
      await one.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
      await two.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('b') });
      await new Promise((resolve) => setTimeout(resolve, 20));
      for (const server of [one, two])
        await server.expect(403, 'POST', `${path}${configMaps}`, { body: configMap('c') });
      await two.expect(200, 'DELETE', `${path}${configMaps}/a`);
      await one.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('c') });
    }
    await store.close();
  });
});

describe('a quota of watches', () => {
  const watchPath = `${configMaps}?watch=true`;

  test('refuses one more with 429, until one ends', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo', { quota: { watches: 2 } });
    const watches = [await server.watch(`${path}${watchPath}`), await server.watch(`${path}${watchPath}`)];
    const refused = await server.request('GET', `${path}${watchPath}`);
    assert.equal(refused.status, 429);
    assert.equal(refused.data.message, 'the tenant "demo" has 2 of 2 watches');
    assert.equal(refused.data.reason, 'TooManyRequests');
    assert.ok(Number(refused.headers['retry-after']) > 0);
    await server.expect(200, 'GET', `${path}${configMaps}`);
    watches[0]!.close();
    watches.push(await server.watch(`${path}${watchPath}`));
    await server.expect(429, 'GET', `${path}${watchPath}`);
    for (const watch of watches) watch.close();
  });

  test('is not exceeded by those that begin at once, and not used up by those that fail', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo', { quota: { watches: 3 } });
    for (let i = 0; i < 10; i++) {
      await server.expect(400, 'GET', `${path}${watchPath}&resourceVersion=nonsense`);
      await server.expect(404, 'GET', `${path}/apis/example.com/v1/widgets?watch=true`);
    }
    const answers = await Promise.all(Array.from({ length: 12 }, () => server.answer('GET', `${path}${watchPath}`)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [
      ...Array.from({ length: 3 }, () => 200),
      ...Array.from({ length: 9 }, () => 429),
    ]);
  });
});

test('a quota of requests a second is the fair queue’s, as it is now', async () => {
  const clock = systemClock;
  await using server = await TenancyServer.open({ tenancy: { fairQueue: new FairQueue({ clock }) } });
  const path = await server.make('demo', { quota: { requestsPerSecond: 3 } });
  const statuses = async (): Promise<number[]> => {
    const asked = Array.from({ length: 8 }, () => server.request('GET', `${path}${configMaps}`));
    return (await Promise.all(asked)).map(({ status }) => status);
  };
  const limited = await statuses();
  assert.ok(limited.filter((status) => status === 200).length >= 3, limited.join());
  assert.ok(limited.includes(429), limited.join());
  await change(server, null);
  assert.ok((await statuses()).every((status) => status === 200));
});
