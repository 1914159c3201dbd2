import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client } from '@hangar/client';
import { fastClock } from '@hangar/core/testing';
import type { Cluster } from '../../cluster.ts';
import { confinedClient } from './confined-client.ts';
import { namespaces } from './namespaces.ts';
import { providerConformance } from './testing/conformance.ts';
import type { ProviderWorld } from './testing/conformance.ts';
import { configMapKind, namespaceKind, startManagement } from './testing/management.ts';
import type { Management } from './testing/management.ts';
import { Recorder } from './testing/recorder.ts';

async function open(): Promise<ProviderWorld & { management: Management }> {
  const management = await startManagement();
  const { client, watched, faults } = management;
  const merge = async (name: string, metadata: object): Promise<void> =>
    void (await client.patch(namespaceKind, { name }, { type: 'merge', body: { metadata } }));
  return {
    management,
    provider: namespaces({ management: watched, labelSelector: 'fleet=a', clock: fastClock() }),
    faults,
    async add(name) {
      await client.create(namespaceKind, { metadata: { name, labels: { fleet: 'a' } } });
    },
    touch: (name) => merge(name, { annotations: { touched: String(Math.random()) } }),
    hidings: {
      'the label': {
        hide: (name) => merge(name, { labels: { fleet: null } }),
        show: (name) => merge(name, { labels: { fleet: 'a' } }),
      },
    },
    async remove(name) {
      await client.delete(namespaceKind, { name });
      // No namespace controller runs in this test.
      const finalize = { kind: 'Namespace', apiVersion: 'v1', metadata: { name }, spec: { finalizers: [] } };
      await client.raw({
        method: 'PUT',
        target: `/api/v1/namespaces/${name}/finalize`,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify(finalize)),
      });
    },
    [Symbol.asyncDispose]: () => management[Symbol.asyncDispose](),
  };
}

providerConformance('namespaces', open);

async function opened(recorder: Recorder, name: string, signal: AbortSignal): Promise<Cluster> {
  await recorder.until(name, () => recorder.clusters.has(name));
  const cluster = await recorder.clusters.get(name)!.open(signal);
  void cluster.start(signal);
  return cluster;
}

test('namespaces see their own objects, and share one watch', async () => {
  await using world = await open();
  const { client, faults } = world.management;
  for (const name of ['one', 'two']) {
    await world.add(name);
    await client.create(configMapKind, { metadata: { namespace: name, name: `of-${name}` } });
  }
  await using recorder = new Recorder(world.provider);
  const end = new AbortController();
  const [one, two] = [await opened(recorder, 'one', end.signal), await opened(recorder, 'two', end.signal)];
  const seen = async (cluster: Cluster) =>
    (await cluster.client.list(configMapKind)).items.map(({ metadata }) => metadata.name);
  assert.deepEqual(await seen(one), ['of-one']);
  assert.deepEqual(await seen(two), ['of-two']);
  const watches = faults.requests.filter(({ target }) => /configmaps.*watch=true/.test(target));
  assert.equal(watches.length, 1);
  assert.equal((await one.client.get(namespaceKind, { name: 'one' })).metadata.name, 'one');
  await assert.rejects(one.client.get(namespaceKind, { name: 'two' }), { code: 'Forbidden' });
  const made = await one.client.create(configMapKind, { metadata: { name: 'made' } });
  assert.equal(made.metadata.namespace, 'one');
  assert.equal((made.metadata as { clusterName?: string }).clusterName, undefined);
  const told: string[] = [];
  const arrived = Promise.withResolvers<void>();
  one.cache.informer(configMapKind).addHandler({
    onAdd: ({ metadata }) => {
      told.push(`${metadata.namespace}/${metadata.name}`);
      if (metadata.name === 'last') arrived.resolve();
    },
  });
  await two.client.create(configMapKind, { metadata: { name: 'other' } });
  await one.client.create(configMapKind, { metadata: { name: 'last' } });
  await arrived.promise;
  assert.deepEqual(told.sort(), ['one/last', 'one/made', 'one/of-one']);
  end.abort();
});

describe('a confined client', () => {
  const cluster = { apiVersion: 'v1', kind: 'Node', plural: 'nodes', isNamespaced: false };
  const patch = { type: 'merge', body: {} } as const;
  const by = { fieldManager: 'test' };
  const elsewhere = { namespace: 'two', name: 'x' };
  const outside: Record<string, (client: Client) => Promise<unknown>> = {
    get: (client) => client.get(configMapKind, elsewhere),
    'get of a cluster’s': (client) => client.get(cluster, { name: 'x' }),
    'get of another namespace': (client) => client.get(namespaceKind, { name: 'two' }),
    list: (client) => client.list(configMapKind, { namespace: 'two' }),
    'list of a cluster’s': (client) => client.list(namespaceKind),
    listAll: (client) => Array.fromAsync(client.listAll(configMapKind, { namespace: 'two' })),
    watch: (client) => Array.fromAsync(client.watch(configMapKind, { namespace: 'two' })),
    create: (client) => client.create(configMapKind, { metadata: elsewhere }),
    'create of a cluster’s': (client) => client.create(namespaceKind, { metadata: { name: 'three' } }),
    update: (client) => client.update(configMapKind, { metadata: elsewhere }),
    patch: (client) => client.patch(configMapKind, elsewhere, patch),
    apply: (client) => client.apply(configMapKind, { metadata: elsewhere }, by),
    delete: (client) => client.delete(configMapKind, elsewhere),
    'delete of its namespace': (client) => client.delete(namespaceKind, { name: 'one' }),
    deleteCollection: (client) => client.deleteCollection(configMapKind, { namespace: 'two' }),
    'status.update': (client) => client.status.update(configMapKind, { metadata: elsewhere }),
    'subresource.create': (client) => client.subresource('token').create(configMapKind, elsewhere, {}),
    'metadata.get': (client) => client.metadata.get(configMapKind, elsewhere),
    'metadata.delete': (client) => client.metadata.delete(configMapKind, elsewhere),
    'raw of another': (client) => client.raw({ method: 'GET', target: '/api/v1/namespaces/two/configmaps' }),
    'raw of a longer name': (client) => client.raw({ method: 'GET', target: '/api/v1/namespaces/one-more/configmaps' }),
    'raw upwards': (client) => client.raw({ method: 'GET', target: '/api/v1/namespaces/one/../two/configmaps' }),
    'raw, escaped': (client) => client.raw({ method: 'GET', target: '/api/v1/namespaces/one/%2e%2e/two/configmaps' }),
    'raw by what some read as a slash': (client) =>
      client.raw({ method: 'GET', target: '/api/v1/namespaces/one/\\..\\..\\two/configmaps' }),
    'raw by what some leave out': (client) =>
      client.raw({ method: 'GET', target: '/api/v1/namespaces/one/.\t./two/configmaps' }),
    'raw of its namespace': (client) => client.raw({ method: 'DELETE', target: '/api/v1/namespaces/one?x=1' }),
    'raw of its namespace’s end': (client) => client.raw({ method: 'PUT', target: '/api/v1/namespaces/one/finalize' }),
    'raw of all': (client) => client.raw({ method: 'GET', target: '/api/v1/configmaps' }),
  };

  test('refuses whatever is elsewhere', async () => {
    await using management = await startManagement();
    for (const name of ['one', 'two']) await management.makeNamespace(name);
    const { client, watched, faults } = management;
    await client.create(configMapKind, { metadata: elsewhere });
    const confined = confinedClient(watched, 'one');
    for (const [name, ask] of Object.entries(outside)) await assert.rejects(ask(confined), { code: 'Forbidden' }, name);
    assert.deepEqual(faults.requests, []);
    await client.get(configMapKind, elsewhere);
  });

  test('does what it is asked at home, said or not', async () => {
    await using management = await startManagement();
    await management.makeNamespace('one');
    const confined = confinedClient(management.watched, 'one');
    const x = { name: 'x' };
    for (const key of [x, { namespace: 'one', ...x }]) {
      await confined.create(configMapKind, { metadata: key });
      const found = await confined.get(configMapKind, key);
      await confined.update(configMapKind, { ...found, data: { a: 'b' } });
      await confined.patch(configMapKind, key, patch);
      await confined.apply(configMapKind, { metadata: key, data: { c: 'd' } }, by);
      assert.equal((await confined.list(configMapKind)).items.length, 1);
      assert.equal((await Array.fromAsync(confined.listAll(configMapKind))).length, 1);
      assert.equal((await confined.metadata.get(configMapKind, key)).metadata.name, 'x');
      assert.ok(await confined.delete(configMapKind, key));
    }
    assert.equal((await confined.get(namespaceKind, { name: 'one' })).metadata.name, 'one');
    const { status } = await confined.raw({ method: 'GET', target: '/api/v1/namespaces/one/configmaps?limit=1' });
    assert.equal(status, 200);
    await confined.deleteCollection(configMapKind);
  });
});
