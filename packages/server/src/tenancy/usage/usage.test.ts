import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hasCode } from '@hangar/core';
import { openMemoryStore } from '@hangar/store';
import { TenancyServer, tenants } from '../../testing/tenancy-server.ts';
import type { TenancyServerOptions } from '../../testing/tenancy-server.ts';
import { configMap, configMaps } from '../../testing/test-server.ts';
import type { Data } from '../../testing/test-server.ts';
import { usageKey } from '../layout.ts';
import type { LastUsage } from './last-usage.ts';

const usageOf = async (server: TenancyServer, name = 'demo'): Promise<Data> =>
  (await server.expect(200, 'GET', `${tenants}/${name}/usage`)).status;

describe('the usage of a tenant', () => {
  test('is what it has and has used, beside its quota, and not what it was born with', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo', { quota: { objects: 100, watches: 5 } });
    const asked = await server.expect(200, 'GET', `${tenants}/demo/usage`);
    const { metadata, status, ...rest } = asked;
    assert.deepEqual(rest, {
      kind: 'TenantUsage',
      apiVersion: 'tenancy.hangar.dev/v1alpha1',
      spec: { quota: { objects: 100, watches: 5 } },
    });
    assert.equal(metadata.name, 'demo');
    assert.match(status.since, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.deepEqual(status, {
      since: status.since,
      objects: 0,
      storedBytes: 0,
      objectsPerKind: {},
      watches: 0,
      requests: { read: 0, write: 0 },
      watchSeconds: 0,
    });
    assert.equal(server.tenancy.open.size, 0, 'it was not opened for that');
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    await server.expect(201, 'POST', `${path}/api/v1/namespaces`, { body: namespace('n') });
    await server.expect(200, 'PATCH', `${path}/api/v1/namespaces/default`, {
      body: { metadata: { labels: { own: 'yes' } } },
      contentType: 'application/merge-patch+json',
    });
    await server.expect(200, 'DELETE', `${path}/apis/rbac.authorization.k8s.io/v1/clusterroles/system:basic-user`);
    await server.expect(200, 'GET', `${path}${configMaps}/a`);
    await server.expect(401, 'GET', `${path}${configMaps}/a`, { token: 'wrong' });
    const used = await usageOf(server);
    assert.deepEqual(used.objectsPerKind, { configmaps: 1, namespaces: 1 });
    assert.equal(used.objects, 2);
    assert.deepEqual(used.requests, { read: 1, write: 4 }, 'who cannot tell who they are are not paid for');
    const { entries } = await server.store.range({
      start: '/registry/clusters/demo//',
      end: '/registry/clusters/demo0',
    });
    const bytes = entries.reduce((sum, { key, value }) => sum + Buffer.byteLength(key) + value.length, 0);
    assert.equal(used.storedBytes, bytes);
    assert.equal(entries.length, 3, 'with the one that it changed');
  });

  test('is told of tenants alone, to those who may', async () => {
    await using server = await TenancyServer.open({
      tokens: [{ token: 'somebody', user: 'somebody', uid: '', groups: [] }],
    });
    await server.make('demo');
    await server.expect(404, 'GET', `${tenants}/nobodys/usage`);
    await server.expect(403, 'GET', `${tenants}/demo/usage`, { token: 'somebody' });
    await server.expect(405, 'POST', `${tenants}/demo/usage`, { body: {} });
    const { resources } = await server.expect(200, 'GET', '/apis/tenancy.hangar.dev/v1alpha1');
    const listed = resources.find(({ name }: { name: string }) => name === 'tenants/usage');
    assert.deepEqual(listed.verbs, ['get']);
  });

  test('counts watches and their time', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo');
    const watch = await server.watch(`${path}${configMaps}?watch=true`);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const during = await usageOf(server);
    assert.equal(during.watches, 1);
    assert.ok(during.watchSeconds >= 0.03, `${during.watchSeconds}`);
    watch.close();
    const after = await usageOf(server);
    assert.equal(after.watches, 0);
    assert.deepEqual(await usageOf(server), after);
    assert.deepEqual(after.requests, { read: 1, write: 0 });
  });

  test('survives restarts, and adds up over servers', async () => {
    const store = await openMemoryStore();
    const options: TenancyServerOptions = { store };
    {
      await using one = await TenancyServer.open(options);
      const path = await one.make('demo');
      await using other = await TenancyServer.open(options);
      await one.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
      await other.expect(200, 'GET', `${path}${configMaps}/a`);
      await other.expect(200, 'GET', `${path}${configMaps}/a`);
    }
    await using again = await TenancyServer.open(options);
    assert.deepEqual((await usageOf(again)).requests, { read: 2, write: 1 });
    await store.close().catch((error: unknown) => assert.ok(hasCode(error, 'Closed')));
  });

  test('goes on when the tenant is retained and adopted', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo');
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    await server.expect(200, 'DELETE', `${tenants}/demo`);
    await server.expect(404, 'GET', `${tenants}/demo/usage`);
    await server.make('demo');
    const { objects, requests } = await usageOf(server);
    assert.deepEqual([objects, requests], [1, { read: 0, write: 1 }]);
  });

  test('is told once more when the tenant is destroyed, and begins anew', async () => {
    const destroyed: [string, LastUsage][] = [];
    const onDestroyed = (path: string, usage: LastUsage): void => void destroyed.push([path, usage]);
    await using server = await TenancyServer.open({ tenancy: { onDestroyed } });
    const path = await server.make('demo', { deletionPolicy: 'Destroy' });
    await server.make('kept');
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    await server.expect(200, 'DELETE', `${tenants}/demo?dryRun=All`);
    await server.expect(200, 'DELETE', `${tenants}/kept`);
    assert.equal(destroyed.length, 0);
    await server.expect(200, 'DELETE', `${tenants}/demo`);
    assert.deepEqual(
      destroyed.map(([name, { objects, writes }]) => [name, objects, writes]),
      [['demo', 1, 1]],
    );
    await server.make('demo');
    assert.deepEqual((await usageOf(server)).requests, { read: 0, write: 0 });
    assert.equal((await server.store.get(usageKey('/registry/clusters/demo/'))).entry, undefined);
  });
});

const namespace = (name: string): object => ({ kind: 'Namespace', apiVersion: 'v1', metadata: { name } });
