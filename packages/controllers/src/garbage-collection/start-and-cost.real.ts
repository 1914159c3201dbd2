import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ConfigMap, Namespace } from '@hangar/client/kinds/core-v1';
import { ClusterRole } from '@hangar/client/kinds/rbac-v1';
import { startTestFleet, Tenant } from '@hangar/testkit';
import { isGone, map, namespace, open, ownedBy, remove, run, settled } from '../testing/garbage.ts';
import { eventually } from '../testing/run-controllers.ts';

describe('after a start', () => {
  test('what should have gone meanwhile goes, what has owners stays, and nothing is written for it', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    const client = fleet.clientOf('red');
    const [gone, there] = [await map(client, 'gone'), await map(client, 'there')];
    const role = await client.get(ClusterRole, { name: 'view' });
    await map(client, 'of-gone', [ownedBy(gone)]);
    await map(client, 'of-there', [ownedBy(there)]);
    await map(client, 'of-base', [ownedBy(role)]);
    await map(client, 'waiting');
    const waiting = await client.get(ConfigMap, { namespace, name: 'waiting' });
    await map(client, 'of-waiting', [ownedBy(waiting, { blocks: true })]);
    const orphaning = await map(client, 'orphaning');
    await map(client, 'orphan', [ownedBy(orphaning)]);
    await remove(client, 'gone');
    await remove(client, 'waiting', { propagationPolicy: 'Foreground' });
    await remove(client, 'orphaning', { propagationPolicy: 'Orphan' });
    const { controllers } = run(fleet);
    for (const name of ['of-gone', 'waiting', 'of-waiting', 'orphaning']) {
      await eventually(() => isGone(client, ConfigMap, name));
    }
    await eventually(() => controllers.set.length === 0);
    for (const name of ['of-there', 'of-base', 'orphan']) assert.ok(!(await isGone(client, ConfigMap, name)), name);
    const revision = await fleet.store.revision();
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(await fleet.store.revision(), revision);
    // Its deletion is delivered although it was not looked up.
    await remove(client, 'there');
    await eventually(() => isGone(client, ConfigMap, 'of-there'));
    await controllers.stop();
  });

  test('a tenant that is taken over is looked through', async () => {
    await using world = await open();
    const { client, fleet } = world;
    const owner = await map(client, 'owner');
    const held = await map(client, 'held');
    await map(client, 'child', [ownedBy(owner)], { finalizers: ['example.com/hold'] });
    await map(client, 'of-held', [ownedBy(held)]);
    await fleet.client.patch(Tenant, { name: 'red' }, { type: 'merge', body: { spec: { deletionPolicy: 'Retain' } } });
    await fleet.client.delete(Tenant, { name: 'red' });
    await eventually(() => world.collector.size === 0);
    // Bypasses the server, as another replica could.
    await fleet.store.commit([{ type: 'delete', key: '/registry/clusters/red/configmaps/default/owner' }]);
    await fleet.createCluster('red');
    await eventually(async () =>
      assert.ok((await client.get(ConfigMap, { namespace, name: 'child' })).metadata.deletionTimestamp),
    );
    assert.ok(!(await isGone(client, ConfigMap, 'of-held')));
  });
});

describe('what it costs', () => {
  test('only objects with owners are remembered, and only while they are there', async () => {
    await using world = await open();
    const { client, collector, fleet } = world;
    await Promise.all(Array.from({ length: 50 }, (_, at) => map(client, `plain-${at}`)));
    await client.create(Namespace, { metadata: { name: 'other' } });
    await settled(world);
    assert.equal(collector.size, 0);
    const owner = await map(client, 'plain-owner');
    await Promise.all(Array.from({ length: 10 }, (_, at) => map(client, `child-${at}`, [ownedBy(owner)])));
    await eventually(() => collector.size === 10);
    await fleet.deleteCluster('red');
    await eventually(() => collector.size === 0);
  });

  test('5,000 dependents of one owner are gone in a few seconds, and a neighbour’s before them', async () => {
    await using world = await open(['red', 'blue']);
    const { client, collector, fleet } = world;
    const owner = await map(client, 'owner');
    for (let at = 0; at < 5_000; at += 250) {
      await Promise.all(Array.from({ length: 250 }, (_, n) => map(client, `child-${at + n}`, [ownedBy(owner)])));
    }
    await eventually(() => collector.size === 5_000);
    await eventually(() => world.controllers.set.length === 0);
    const [begunMs, begunWork] = [performance.now(), process.cpuUsage()];
    await remove(client, 'owner');
    // A neighbour is not delayed.
    const blue = fleet.clientOf('blue');
    const small = await map(blue, 'small');
    await map(blue, 'small-child', [ownedBy(small)]);
    await remove(blue, 'small');
    await eventually(() => isGone(blue, ConfigMap, 'small-child'));
    const neighbourMs = performance.now() - begunMs;
    await eventually(() => collector.size === 0, { withinMs: 60_000 });
    const tookMs = performance.now() - begunMs;
    const { user, system } = process.cpuUsage(begunWork);
    assert.deepEqual((await client.list(ConfigMap, { namespace, limit: 1 })).items, []);
    // CPU time, about one second: wall time depends on other load of the machine.
    assert.ok(user + system < 5_000_000, `it took ${(user + system) / 1_000} ms of work`);
    assert.ok(neighbourMs < tookMs / 2 + 500, `the neighbour waited for ${Math.round(neighbourMs)} ms`);
  });
});
