import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { connect, defineKind } from '@hangar/client';
import { startTestFleet, Tenant } from './test-fleet.ts';
import { virtualClock } from './virtual-clock.ts';

const ConfigMap = defineKind({ apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', isNamespaced: true });
const key = { namespace: 'default', name: 'one' };

describe('a fleet', () => {
  test('has clusters that know nothing of each other, and one view of all', async () => {
    await using fleet = await startTestFleet({ clusters: ['east', 'west'] });
    assert.deepEqual(fleet.clusters.toSorted(), ['east', 'west']);
    await fleet.clientOf('east').create(ConfigMap, { metadata: key, data: { of: 'east' } });
    await assert.rejects(fleet.clientOf('west').get(ConfigMap, key), { code: 'NotFound' });
    await assert.rejects(fleet.client.get(ConfigMap, key), { code: 'NotFound' });
    const { items } = await fleet.wildcardClient.list(ConfigMap, { fieldSelector: { 'metadata.name': 'one' } });
    assert.deepEqual(
      items.map(({ metadata }) => (metadata as { clusterName?: string }).clusterName),
      ['east'],
    );
    assert.equal((await fleet.client.list(Tenant)).items.length, 2);
  });

  test('tells of every cluster on one watch', async () => {
    await using fleet = await startTestFleet({ clusters: 3 });
    const { resourceVersion } = await fleet.wildcardClient.list(ConfigMap);
    const events = fleet.wildcardClient.watch(ConfigMap, { resourceVersion })[Symbol.asyncIterator]();
    const seen = new Set<string>();
    for (const name of fleet.clusters) await fleet.clientOf(name).create(ConfigMap, { metadata: key });
    while (seen.size < 3) {
      const { value } = await events.next();
      if (value.type === 'ADDED' && value.object.metadata.name === 'one') seen.add(value.object.metadata.clusterName);
    }
    await events.return?.();
  });

  test('gets and loses clusters under way', async () => {
    await using fleet = await startTestFleet({ clusters: 1 });
    const client = await fleet.createCluster('new', { tier: 'gold' });
    await client.create(ConfigMap, { metadata: key });
    assert.equal((await fleet.client.get(Tenant, { name: 'new' })).metadata.labels?.['tier'], 'gold');
    await fleet.deleteCluster('new');
    await assert.rejects(client.get(ConfigMap, key), { code: 'NotFound' });
    assert.deepEqual(fleet.clusters, ['cluster-0']);
    const again = await fleet.createCluster('new');
    await assert.rejects(again.get(ConfigMap, key), { code: 'NotFound' }, 'nothing of the old one is left');
  });

  test('has users who may only do what their cluster lets them', async () => {
    await using fleet = await startTestFleet({ clusters: ['east'] });
    const somebody = fleet.clientOf('east', { name: 'somebody', groups: ['one', 'two'] });
    await assert.rejects(somebody.get(ConfigMap, key), { code: 'Forbidden' });
    const Binding = defineKind({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      plural: 'clusterrolebindings',
      isNamespaced: false,
    });
    await fleet.clientOf('east').create(Binding, {
      metadata: { name: 'two-view' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'two' }],
    });
    await assert.rejects(somebody.get(ConfigMap, key), { code: 'NotFound' });
    await assert.rejects(somebody.create(ConfigMap, { metadata: key }), { code: 'Forbidden' });
  });

  test('runs in virtual time', async () => {
    const clock = virtualClock();
    await using fleet = await startTestFleet({ clusters: 5, clock });
    await fleet.clientOf('cluster-3').create(ConfigMap, { metadata: key });
    await clock.advance(24 * 3_600_000);
    assert.equal((await fleet.clientOf('cluster-3').get(ConfigMap, key)).metadata.name, 'one');
  });

  test('is reached over TLS, each cluster by its own address', async () => {
    await using fleet = await startTestFleet({ clusters: ['east', 'west'], listen: true });
    const [east, all] = [connect(fleet.configOf('east')), connect(fleet.configOf('*'))];
    await east.create(ConfigMap, { metadata: key });
    const { items } = await all.list(ConfigMap, { fieldSelector: { 'metadata.name': 'one' } });
    assert.equal(items.length, 1);
    assert.match(fleet.kubeconfigOf('east'), /server: https:\/\/127\.0\.0\.1:\d+\/clusters\/east\/control-plane/);
    await Promise.all([east.close(), all.close()]);
  });

  test('of hundreds is there in seconds', async () => {
    const beganMs = performance.now();
    await using fleet = await startTestFleet({ clusters: 300 });
    assert.equal(fleet.clusters.length, 300);
    assert.ok(performance.now() - beganMs < 10_000, `${performance.now() - beganMs} ms`);
  });
});
