import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newCluster } from '../new-cluster.ts';
import type { NewClusterOptions } from '../new-cluster.ts';
import { kindOptions } from './cache-options.ts';
import { ConfigMap, openWorld } from './testing/world.ts';

const key = { namespace: 'default', name: 'a' };

async function opened(options: Partial<NewClusterOptions> = {}) {
  const the = await openWorld();
  const { client, clock, faults } = the;
  const cluster = newCluster({ name: '', client, clock, ...options });
  const running = cluster.start(the.controller.signal);
  await the.make('a', { value: '1' });
  /** Returns the number of requests that `act` sends. */
  const requests = async (act: () => Promise<unknown>): Promise<number> => {
    faults.forget();
    await act();
    return faults.requests.length;
  };
  const dispose = async (): Promise<void> => {
    the.controller.abort();
    await clock.run(running);
    await the[Symbol.asyncDispose]();
  };
  return { ...the, cluster, requests, [Symbol.asyncDispose]: dispose };
}

describe('a cluster’s client', () => {
  test('reads from the cache, as copies that may be changed', async () => {
    await using the = await opened();
    const { client, cache } = the.cluster;
    const first = await client.get(ConfigMap, key);
    first.data!['value'] = 'changed';
    assert.equal(await the.requests(() => client.get(ConfigMap, key)), 0);
    assert.equal((await client.get(ConfigMap, key)).data!['value'], '1');
    const { items, resourceVersion } = await client.list(ConfigMap, { namespace: 'default' });
    assert.notEqual(resourceVersion, '');
    items[0]!.metadata.labels = { changed: 'yes' };
    assert.equal((await cache.get(ConfigMap, key)).metadata.labels, undefined);
    const all = await Array.fromAsync(client.listAll(ConfigMap, { namespace: 'default', limit: 1 }));
    assert.equal(all.length, 1);
    assert.notEqual(all[0], await cache.get(ConfigMap, key));
    assert.equal(await the.requests(() => the.cluster.apiReader.get(ConfigMap, key)), 1);
  });

  test('writes at once, and sees it a moment later', async () => {
    await using the = await opened();
    const { client } = the.cluster;
    const before = await client.get(ConfigMap, key);
    const after = await client.update(ConfigMap, { ...before, data: { value: '2' } });
    assert.equal(after.data!['value'], '2');
    await the.clock.settle();
    assert.equal((await client.get(ConfigMap, key)).data!['value'], '2');
    await client.patch(ConfigMap, key, { type: 'merge', body: { data: { value: '3' } } });
    await client.create(ConfigMap, { metadata: { namespace: 'default', name: 'b' } });
    await client.apply(ConfigMap, { metadata: { namespace: 'default', name: 'c' } }, { fieldManager: 'me' });
    assert.equal(await client.delete(ConfigMap, { namespace: 'default', name: 'b' }), true);
    await the.clock.settle();
    const { items } = await client.list(ConfigMap, { namespace: 'default' });
    assert.deepEqual(items.map(({ metadata }) => metadata.name).toSorted(), ['a', 'c']);
    await client.deleteCollection(ConfigMap, { namespace: 'default' });
    await the.clock.settle();
    await assert.rejects(client.get(ConfigMap, key), { code: 'NotFound' });
  });

  test('asks the server for what only that knows', async () => {
    await using the = await opened();
    const { client, cache } = the.cluster;
    cache.addIndex(ConfigMap, 'data.value', ({ data }) => [data?.['value'] ?? '']);
    await client.get(ConfigMap, key);
    const { metadata } = await client.get(ConfigMap, key);
    const asked: Record<string, number> = {};
    const ask = async (what: string, act: () => Promise<unknown>): Promise<void> =>
      void (asked[what] = await the.requests(() => act().catch(() => {})));
    await ask('a version', () => client.get(ConfigMap, key, { resourceVersion: metadata.resourceVersion }));
    await ask('any version', () => client.get(ConfigMap, key, { resourceVersion: '0' }));
    await ask('a page', () => client.list(ConfigMap, { limit: 1 }));
    await ask('the next page', () => client.list(ConfigMap, { continue: 'x' }));
    await ask('a field', () => client.list(ConfigMap, { fieldSelector: 'metadata.uid=x' }));
    await ask('other than a field', () => client.list(ConfigMap, { fieldSelector: 'metadata.name!=x' }));
    await ask('a name', () => client.list(ConfigMap, { fieldSelector: 'metadata.name=a' }));
    await ask('an indexed field', () => client.list(ConfigMap, { fieldSelector: 'data.value=1' }));
    await ask('the metadata', () => client.metadata.get(ConfigMap, key));
    await ask('/version', () => client.raw({ method: 'GET', target: '/version' }));
    assert.deepEqual(asked, {
      'a version': 1,
      'any version': 0,
      'a page': 1,
      'the next page': 1,
      'a field': 1,
      'other than a field': 1,
      'a name': 0,
      'an indexed field': 0,
      'the metadata': 0,
      '/version': 1,
    });
    const partial = await client.metadata.get(ConfigMap, key);
    assert.deepEqual(Object.keys(partial), ['apiVersion', 'kind', 'metadata']);
    assert.equal((await client.metadata.list(ConfigMap, { namespace: 'default' })).items[0]!.data, undefined);
  });

  test('asks the server for kinds and namespaces that are not kept', async () => {
    await using the = await opened({ uncached: [{ ...ConfigMap }] });
    assert.equal(await the.requests(() => the.cluster.client.get(ConfigMap, key)), 1);
    assert.equal(await the.requests(() => Array.fromAsync(the.cluster.client.listAll(ConfigMap))), 1);
    await using other = await opened({ cache: { byKind: [kindOptions(ConfigMap, { namespace: 'elsewhere' })] } });
    await assert.rejects(other.cluster.client.get(ConfigMap, { namespace: 'elsewhere', name: 'a' }), {
      code: 'NotFound',
    });
    assert.equal(await other.requests(() => other.cluster.client.get(ConfigMap, key)), 1);
    assert.equal(await other.requests(() => other.cluster.client.list(ConfigMap)), 1);
    assert.equal(await other.requests(() => Array.fromAsync(other.cluster.client.listAll(ConfigMap))), 1);
  });

  test('asks the server for whole objects where the cache has metadata only', async () => {
    await using the = await opened({ cache: { byKind: [kindOptions(ConfigMap, { metadataOnly: true })] } });
    assert.equal((await the.cluster.client.get(ConfigMap, key)).data!['value'], '1');
    await the.cluster.client.metadata.get(ConfigMap, key);
    assert.equal(await the.requests(() => the.cluster.client.metadata.get(ConfigMap, key)), 0);
  });

  test('hands out what is shared to who asks for that', async () => {
    await using the = await opened({ unsafeShareObjects: true });
    assert.equal(await the.cluster.client.get(ConfigMap, key), await the.cluster.cache.get(ConfigMap, key));
  });
});
