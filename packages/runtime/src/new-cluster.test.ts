import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineKind } from '@hangar/client';
import { startTestCluster, virtualClock } from '@hangar/testkit';
import { ClusterCache } from './cache/cluster-cache.ts';
import { newCluster } from './new-cluster.ts';

const ConfigMap = defineKind({ apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', isNamespaced: true });
const key = { namespace: 'default', name: 'one' };

test('a cluster reads from its cache, writes to its server and ends with its signal', async () => {
  const clock = virtualClock();
  await using server = await startTestCluster({ clock });
  const cluster = newCluster({ name: 'east', client: server.client, clock });
  assert.equal(cluster.name, 'east');
  await assert.rejects(cluster.client.get(ConfigMap, key), { code: 'CacheNotStarted' });
  await cluster.client.create(ConfigMap, { metadata: key });
  assert.equal((await cluster.apiReader.get(ConfigMap, key)).metadata.name, 'one');
  const controller = new AbortController();
  const running = cluster.start(controller.signal);
  assert.equal((await cluster.client.get(ConfigMap, key)).metadata.name, 'one');
  assert.deepEqual(await cluster.client.get(ConfigMap, key), await cluster.cache.get(ConfigMap, key));
  await assert.rejects(cluster.start(controller.signal), { code: 'InvalidOptions' });
  controller.abort();
  await clock.run(running);
});

test('a cluster has the cache that it is given, or one that keeps what it is told', async () => {
  const clock = virtualClock();
  await using server = await startTestCluster({ clock });
  const cache = new ClusterCache({ client: server.client, clock });
  assert.equal(newCluster({ name: '', client: server.client, cache }).cache, cache);
  const scoped = newCluster({ name: '', client: server.client, cache: { defaults: { namespace: 'default' } }, clock });
  const controller = new AbortController();
  const running = scoped.start(controller.signal);
  await assert.rejects(scoped.cache.list(ConfigMap), { code: 'NotInCache' });
  assert.deepEqual((await scoped.cache.list(ConfigMap, { namespace: 'default' })).items, []);
  controller.abort();
  await clock.run(running);
});
