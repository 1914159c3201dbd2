import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openMemoryStore } from '@hangar/store';
import type { Store, Write } from '@hangar/store';
import { ForwardingStore } from '../../objects/forwarding-store.ts';
import { planePath, tenants, TenancyServer } from '../../testing/tenancy-server.ts';
import { configMap, configMaps } from '../../testing/test-server.ts';
import type { Data } from '../../testing/test-server.ts';

const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const path = planePath('demo');

const hold = (server: TenancyServer, id = 'm1'): Promise<Data> =>
  server.expect(201, 'POST', `${tenants}/demo/hold?id=${id}`);
const release = (server: TenancyServer, id = 'm1'): Promise<Data> =>
  server.expect(201, 'POST', `${tenants}/demo/release?id=${id}`);

/** Resolves when this many requests wait. */
async function untilWaiting(server: TenancyServer, count: number): Promise<void> {
  while (server.tenancy.heldRequests('demo') < count) await new Promise((resolve) => setImmediate(resolve));
}

describe('a tenant that a migration holds', () => {
  test('keeps requests waiting, and answers them after the hold', async () => {
    await using server = await TenancyServer.open();
    await server.make('demo');
    const { status } = await hold(server);
    assert.equal(status.serving.mode, 'Local');
    assert.equal(status.serving.heldBy, 'm1');
    const answers = [
      server.request('POST', `${path}${configMaps}`, { body: configMap('a') }),
      server.request('GET', `${path}${roles}/admin`),
    ];
    await untilWaiting(server, 2);
    await release(server);
    assert.deepEqual(
      (await Promise.all(answers)).map(({ status: code }) => code),
      [201, 200],
    );
    const after = await server.expect(200, 'GET', `${tenants}/demo`);
    assert.deepEqual(after.status.serving, { mode: 'Local' });
  });

  test('keeps the revisions of its objects and the history of its watches', async () => {
    await using server = await TenancyServer.open();
    await server.make('demo');
    const before = await server.expect(200, 'GET', `${path}${roles}/admin`);
    const first = await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('b') });
    const open = await server.watch(
      `${path}${configMaps}?watch=true&resourceVersion=${first.metadata.resourceVersion}`,
    );
    assert.deepEqual(await open.told(1), ['ADDED b']);
    await hold(server);
    await open.ended();
    assert.equal(open.sink.chunks.length, 1, 'it ends without an error');
    await release(server);
    assert.deepEqual(await server.expect(200, 'GET', `${path}${roles}/admin`), before);
    const resumed = await server.watch(
      `${path}${configMaps}?watch=true&resourceVersion=${first.metadata.resourceVersion}`,
    );
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('c') });
    assert.deepEqual(await resumed.told(2), ['ADDED b', 'ADDED c']);
    resumed.close();
  });

  test('sends a bookmark with the revision of the hold to the watches that it ends', async () => {
    await using server = await TenancyServer.open();
    await server.make('demo');
    const first = await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    const query = `watch=true&resourceVersion=${first.metadata.resourceVersion}`;
    const idle = await server.watch(`${path}${configMaps}?${query}&allowWatchBookmarks=true`);
    const plain = await server.watch(`${path}${configMaps}?${query}`);
    await server.make('other');
    await hold(server);
    await Promise.all([idle.ended(), plain.ended()]);
    const { status } = await server.expect(200, 'GET', `${tenants}/demo/replica?state=true`);
    const events = await idle.events(1);
    assert.deepEqual(
      events.map(({ type, object }) => [type, object.kind, object.metadata]),
      [['BOOKMARK', 'ConfigMap', { resourceVersion: String(status.heldAt) }]],
    );
    assert.equal(idle.sink.chunks.length, 1);
    assert.equal(plain.sink.chunks.length, 0);
    await release(server);
    const resumed = await server.watch(`${path}${configMaps}?watch=true&resourceVersion=${status.heldAt}`);
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('b') });
    assert.deepEqual(await resumed.told(1), ['ADDED b']);
    resumed.close();
  });

  test('is held by one migration at a time, and every call can be repeated', async () => {
    await using server = await TenancyServer.open();
    await server.make('demo');
    await hold(server, 'm1');
    await hold(server, 'm1');
    for (const operation of ['hold', 'release']) {
      const { message } = await server.expect(409, 'POST', `${tenants}/demo/${operation}?id=m2`);
      assert.match(message, /migration "m1" holds the tenant/);
    }
    await release(server, 'm1');
    await release(server, 'm1');
    for (const id of ['', '../x', 'a'.repeat(65)]) {
      await server.expect(400, 'POST', `${tenants}/demo/hold?id=${encodeURIComponent(id)}`);
    }
    await server.expect(404, 'POST', `${tenants}/none/hold?id=m1`);
  });

  test('is not deleted, restored or materialised meanwhile', async () => {
    await using server = await TenancyServer.open();
    await server.make('demo', { deletionPolicy: 'Destroy' });
    await hold(server);
    await server.expect(409, 'DELETE', `${tenants}/demo`);
    await server.expect(409, 'POST', `${tenants}/demo/materialise`);
    await server.expect(409, 'POST', `${tenants}/demo/restore?replace=true`, { body: 'x' });
    await release(server);
    await server.expect(200, 'POST', `${tenants}/demo/materialise`);
    await server.expect(200, 'DELETE', `${tenants}/demo`);
  });

  test('accepts no write through another server', async () => {
    const store = await openMemoryStore();
    await using one = await TenancyServer.open({ store });
    await using other = await TenancyServer.open({ store });
    await one.make('demo');
    await other.tenancy.tenants.reached(await store.revision());
    await other.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('before') });
    const { metadata } = await hold(one);
    const waiting = other.request('POST', `${path}${configMaps}`, { body: configMap('after') });
    await untilWaiting(other, 1);
    assert.equal((await store.get('/registry/clusters/demo/configmaps/default/after')).entry, undefined);
    await release(one);
    const { status, data } = await waiting;
    assert.equal(status, 201);
    assert.ok(Number(data.metadata.resourceVersion) > Number(metadata.resourceVersion));
  });

  test('is held after a restart of the server, too', async () => {
    const store = await openMemoryStore();
    {
      await using server = await TenancyServer.open({ store });
      await server.make('demo');
      await hold(server);
    }
    await using server = await TenancyServer.open({ store });
    const waiting = server.request('GET', `${path}${roles}/admin`);
    await untilWaiting(server, 1);
    await release(server);
    assert.equal((await waiting).status, 200);
  });
});

/** Store whose transactions on ConfigMaps wait while the gate is closed. */
class GatedStore extends ForwardingStore {
  gate: Promise<void> = Promise.resolve();
  /** Number of transactions that have waited. */
  waited = 0;

  override async commit(writes: readonly Write[]): ReturnType<Store['commit']> {
    if (writes.some((write) => 'key' in write && write.key.includes('/demo/configmaps/'))) {
      this.waited++;
      await this.gate;
    }
    return this.store.commit(writes);
  }
}

test('500 requests that run when a hold begins are each answered, and executed once', async () => {
  const store = new GatedStore(await openMemoryStore());
  await using server = await TenancyServer.open({ store });
  await server.make('demo');
  const counters = Array.from({ length: 20 }, (_, at) => `counter-${at}`);
  const metadata = { finalizers: ['x.example.com/first'] };
  for (const name of counters) {
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap(name, {}, metadata) });
  }
  const gate = Promise.withResolvers<void>();
  store.gate = gate.promise;
  store.waited = 0;
  // A JSON patch that appends is not idempotent: a second execution would show.
  const appended = (name: string): Promise<Data> =>
    server.expect(200, 'PATCH', `${path}${configMaps}/${name}`, {
      body: [{ op: 'add', path: '/metadata/finalizers/-', value: `x.example.com/second` }],
      contentType: 'application/json-patch+json',
    });
  const running = [
    ...Array.from({ length: 240 }, (_, at) => [
      server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap(`c${at}`) }),
      server.expect(200, 'GET', `${path}${configMaps}/counter-0`),
    ]).flat(),
    ...counters.map(appended),
  ];
  assert.equal(running.length, 500);
  while (store.waited < 260) await new Promise((resolve) => setImmediate(resolve));
  await hold(server);
  gate.resolve();
  await untilWaiting(server, 260);
  await release(server);
  await Promise.all(running);
  const { items } = await server.expect(200, 'GET', `${path}${configMaps}`);
  const finalizers = items.flatMap(({ metadata: { finalizers: all = [] } }: Data) => all);
  assert.equal(finalizers.length, 40, 'each was added once');
});
