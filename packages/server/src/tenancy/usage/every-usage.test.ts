import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TenancyServer, tenants } from '../../testing/tenancy-server.ts';
import { configMap, configMaps } from '../../testing/test-server.ts';
import type { Data } from '../../testing/test-server.ts';

const everyUsage = (server: TenancyServer, query = ''): Promise<Data> =>
  server.expect(200, 'GET', `${tenants}/*/usage${query}`);

const byName = ({ items }: Data): Record<string, Data> =>
  Object.fromEntries(items.map((one: Data) => [one.metadata.name, one.status]));

describe('the usage of every tenant', () => {
  test('is of those that are in use, from memory', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('busy');
    await server.make('idle');
    assert.deepEqual((await everyUsage(server)).items, []);
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    await server.expect(200, 'GET', `${path}${configMaps}`);
    const { items, ...list } = await everyUsage(server);
    assert.deepEqual(list, {
      kind: 'TenantUsageList',
      apiVersion: 'tenancy.hangar.dev/v1alpha1',
      metadata: {},
      status: { tenants: 2 },
    });
    assert.equal(items.length, 1);
    const [{ metadata, status }] = items;
    assert.equal(metadata.name, 'busy');
    assert.deepEqual(status.requests, { read: 1, write: 1 });
    assert.ok(status.memoryBytes > 0, 'its config maps were listed, and are kept');
    assert.equal(status.objects, undefined);
  });

  test('is of all of them, and of what they have, when asked for', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('busy');
    await server.make('idle');
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    const none = { requests: { read: 0, write: 0 }, watches: 0, memoryBytes: 0 };
    assert.deepEqual(byName(await everyUsage(server, '?idle=true'))['idle'], none);
    const counted = byName(await everyUsage(server, '?count=true'));
    assert.deepEqual(counted['idle'], { ...none, objects: 0, storedBytes: 0 });
    assert.equal(counted['busy']!.objects, 1);
    assert.ok(counted['busy']!.storedBytes > 100);
  });

  test('has the load of the last minutes, and the latency of the other tenants', async () => {
    await using server = await TenancyServer.open();
    const [a, b] = [await server.make('a'), await server.make('b')];
    await server.make('blocked');
    for (let i = 0; i < 120; i++) await server.expect(200, 'GET', `${b}${configMaps}`);
    await server.expect(200, 'GET', `${a}${configMaps}`);
    server.tenancy.stalled('blocked');
    server.tenancy.stalled('unknown');
    const usage = byName(await everyUsage(server));
    assert.deepEqual(Object.keys(usage).sort(), ['a', 'b', 'blocked']);
    assert.deepEqual(usage['blocked']!.recent, { stalls: 1 });
    const { recent } = usage['b']!;
    assert.ok(recent.requestsPerSecond >= 1 && recent.requestsPerSecond <= 2, `${recent.requestsPerSecond}`);
    assert.ok(recent.p99Seconds > 0);
    assert.equal(recent.neighbourP99Seconds, undefined, 'one request of a neighbour has no percentile');
    assert.equal(usage['a']!.recent.neighbourP99Seconds, recent.p99Seconds);
    assert.equal(usage['a']!.recent.stalls, 0);
  });

  test('is told to those alone who may see every one', async () => {
    await using server = await TenancyServer.open({
      tokens: [{ token: 'somebody', user: 'somebody', uid: '', groups: [] }],
    });
    await server.make('demo');
    await server.expect(403, 'GET', `${tenants}/*/usage`, { token: 'somebody' });
  });
});
