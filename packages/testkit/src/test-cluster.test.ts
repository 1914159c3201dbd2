import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineKind } from '@hangar/client';
import { startTestCluster } from './test-cluster.ts';

const ConfigMap = defineKind({ apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', isNamespaced: true });

test('a cluster in process takes, lists, watches and refuses as a server does', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  const key = { namespace: 'default', name: 'one' };
  const { resourceVersion } = await client.list(ConfigMap, { namespace: 'default' });
  const events = client.watch(ConfigMap, { namespace: 'default', resourceVersion })[Symbol.asyncIterator]();
  const made = await client.create(ConfigMap, { metadata: key, data: { a: '1' } });
  assert.equal(made['kind'], 'ConfigMap');
  const { value } = await events.next();
  assert.equal(value.type, 'ADDED');
  assert.equal(value.object.metadata.uid, made.metadata.uid);
  await events.return?.(undefined);
  await assert.rejects(client.create(ConfigMap, { metadata: key }), { code: 'AlreadyExists' });
  await assert.rejects(cluster.clientOf({ name: 'somebody' }).get(ConfigMap, key), { code: 'Forbidden' });
  assert.equal(await client.delete(ConfigMap, key), true);
  assert.equal(await client.delete(ConfigMap, key), false);
});
