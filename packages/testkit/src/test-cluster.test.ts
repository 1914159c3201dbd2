import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { connect, defineKind } from '@hangar/client';
import { ClusterRole, ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { installCrd } from './install-crd.ts';
import { startTestCluster } from './test-cluster.ts';
import { serviceAccount } from './users.ts';
import { virtualClock } from './virtual-clock.ts';

const ConfigMap = defineKind({ apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', isNamespaced: true });
const key = { namespace: 'default', name: 'one' };

describe('a cluster in process', () => {
  test('takes, lists, watches and refuses as a server does', async () => {
    await using cluster = await startTestCluster();
    const { client } = cluster;
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

  test('is there, and has answered, in less than 50 ms', async () => {
    const takenMs: number[] = [];
    // The best of many attempts: other load of the machine can only add to it.
    for (let at = 0; at < 100 && !takenMs.some((ms) => ms < 50); at++) {
      const beganMs = performance.now();
      await using cluster = await startTestCluster();
      await cluster.client.create(ConfigMap, { metadata: key });
      takenMs.push(performance.now() - beganMs);
    }
    const bestMs = Math.min(...takenMs);
    assert.ok(bestMs < 50, `in ${takenMs.map(Math.round).join(', ')} ms`);
  });

  test('with RBAC lets an operator do exactly what it is allowed', async () => {
    await using cluster = await startTestCluster({ authorization: 'rbac' });
    const operator = cluster.clientOf(serviceAccount('default', 'operator'));
    await assert.rejects(operator.list(ConfigMap), { code: 'Forbidden' });
    await cluster.client.create(ClusterRole, {
      metadata: { name: 'reader' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] }],
    });
    await cluster.client.create(ClusterRoleBinding, {
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
      subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'operator' }],
    });
    assert.ok((await operator.list(ConfigMap)).items.length >= 0);
    await assert.rejects(operator.create(ConfigMap, { metadata: key }), { code: 'Forbidden' });
  });

  test('serves a definition when it is installed, in real time and in virtual time', async () => {
    const definition = {
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    };
    const Widget = defineKind({ apiVersion: 'example.com/v1', kind: 'Widget', plural: 'widgets', isNamespaced: true });
    for (const clock of [undefined, virtualClock()]) {
      await using cluster = await startTestCluster({ clock });
      await installCrd(cluster.client, definition, clock && { clock });
      await cluster.client.create(Widget, { metadata: key });
      await installCrd(cluster.client, definition, clock && { clock });
      assert.equal((await cluster.client.list(Widget)).items.length, 1);
    }
  });

  test('a definition whose names are taken is said so', async () => {
    await using cluster = await startTestCluster();
    const definition = (plural: string) => ({
      metadata: { name: `${plural}.example.com` },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural, kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    });
    await installCrd(cluster.client, definition('widgets'));
    await assert.rejects(installCrd(cluster.client, definition('gizmos')), /gizmos\.example\.com: .*already in use/);
  });

  test('is reached over TLS when it listens, and says so when it does not', async () => {
    await using cluster = await startTestCluster({ listen: true });
    const client = connect(cluster.config);
    await client.create(ConfigMap, { metadata: key });
    assert.equal((await cluster.client.get(ConfigMap, key)).metadata.name, 'one');
    await client.close();
    assert.match(cluster.kubeconfig, new RegExp(`server: ${cluster.url}`));
    await using silent = await startTestCluster();
    assert.throws(() => silent.config, /listen: true/);
  });

  test('ends its clients and watches when it is disposed', async () => {
    const cluster = await startTestCluster();
    const watching = Array.fromAsync(cluster.client.watch(ConfigMap));
    const ended = assert.rejects(watching, { code: 'ConnectionLost' });
    await cluster.client.list(ConfigMap);
    await cluster[Symbol.asyncDispose]();
    await ended;
  });
});
