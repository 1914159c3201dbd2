/** The whole set costs an idle control plane nothing. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterRole } from '@hangar/client/kinds/rbac-v1';
import { ConfigMap, Namespace, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { startTestFleet } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import { countedClients } from './testing/counted-clients.ts';
import { fleetKeys } from './testing/fleet-keys.ts';
import { eventually, runControllers } from './testing/run-controllers.ts';
import type { RunningControllers } from './testing/run-controllers.ts';

const servingCa = 'the CA';

const idle = (running: RunningControllers): Promise<boolean> => eventually(() => running.set.length === 0);

/** Returns the stored objects of tenants with their revisions, without those of the server itself: identity, keys, usage. */
async function storedIn(fleet: TestFleet): Promise<string[]> {
  const prefixes = fleet.clusters.map((name) => `/registry/clusters/${name}`);
  const ranges = prefixes.map((prefix) => fleet.store.range({ start: `${prefix}/`, end: `${prefix}0` }));
  const entries = (await Promise.all(ranges)).flatMap((range) => range.entries);
  return entries.filter(({ key }) => !key.includes('/.hangar/')).map(({ key, modRevision }) => `${key} ${modRevision}`);
}

/** Opens it, and reads the objects that controllers manage. */
async function look(fleet: TestFleet, cluster: string): Promise<void> {
  const client = fleet.clientOf(cluster);
  const [accounts, maps] = [
    await client.list(ServiceAccount),
    await client.list(ConfigMap, { fieldSelector: 'metadata.name=kube-root-ca.crt' }),
  ];
  assert.equal(accounts.items.length, 4);
  assert.deepEqual(
    maps.items.map(({ data }) => data),
    Array.from({ length: 4 }, () => ({ 'ca.crt': servingCa })),
  );
  assert.ok((await client.list(ClusterRole)).items.length > 50);
}

test('new tenants are asked nothing, and nothing is written in them, though all of the set is at work', async () => {
  await using fleet = await startTestFleet({ clusters: 3, hasAccounts: true, servingCa });
  const { clientOf, requests } = countedClients(fleet);
  await using running = runControllers(fleet, { clientOf, keysOf: fleetKeys(fleet, servingCa).of });
  await running.synced;
  await idle(running);
  await fleet.createCluster('late');
  await idle(running);
  for (const cluster of fleet.clusters) await look(fleet, cluster);
  // Completes work elsewhere: by then any effect of the visits would be visible.
  await fleet.client.create(Namespace, { metadata: { name: 'elsewhere' } });
  await eventually(() => fleet.client.get(ConfigMap, { namespace: 'elsewhere', name: 'kube-root-ca.crt' }));
  await eventually(() => fleet.client.get(ServiceAccount, { namespace: 'elsewhere', name: 'default' }));
  await idle(running);
  assert.deepEqual(
    requests.filter((request) => !request.startsWith('root ')),
    [],
  );
  assert.deepEqual(await storedIn(fleet), []);
});

test('a set that starts again on tenants in use that are in order asks them nothing', async () => {
  await using fleet = await startTestFleet({ clusters: 2, hasAccounts: true, servingCa });
  const keys = fleetKeys(fleet, servingCa);
  {
    await using running = runControllers(fleet, { keysOf: keys.of });
    await running.synced;
    for (const cluster of fleet.clusters) {
      const client = fleet.clientOf(cluster);
      await client.create(Namespace, { metadata: { name: 'shop' } });
      await client.create(ConfigMap, { metadata: { namespace: 'shop', name: 'mine' } });
      await eventually(() => client.get(ConfigMap, { namespace: 'shop', name: 'kube-root-ca.crt' }));
      await eventually(() => client.get(ServiceAccount, { namespace: 'shop', name: 'default' }));
    }
    await idle(running);
  }
  const before = await storedIn(fleet);
  assert.ok(before.length > 0);
  const { clientOf, requests } = countedClients(fleet);
  await using running = runControllers(fleet, { clientOf, keysOf: keys.of });
  await running.synced;
  await idle(running);
  assert.deepEqual(
    requests.filter((request) => !request.startsWith('root ')),
    [],
  );
  assert.deepEqual(await storedIn(fleet), before);
});

test('what is deleted of the base comes back as the tenant’s own', async () => {
  await using fleet = await startTestFleet({ clusters: ['red'], hasAccounts: true, servingCa });
  await using running = runControllers(fleet, { keysOf: fleetKeys(fleet, servingCa).of });
  await running.synced;
  const red = fleet.clientOf('red');
  const namespace = 'kube-public';
  const before = await red.get(ServiceAccount, { namespace, name: 'default' });
  await red.delete(ServiceAccount, { namespace, name: 'default' });
  await red.delete(ConfigMap, { namespace, name: 'kube-root-ca.crt' });
  const after = await eventually(() => red.get(ServiceAccount, { namespace, name: 'default' }));
  assert.notEqual(after.metadata.uid, before.metadata.uid);
  await eventually(() => red.get(ConfigMap, { namespace, name: 'kube-root-ca.crt' }));
  await red.patch(
    ConfigMap,
    { namespace: 'default', name: 'kube-root-ca.crt' },
    { type: 'merge', body: { data: null } },
  );
  await eventually(async () => {
    const { data } = await red.get(ConfigMap, { namespace: 'default', name: 'kube-root-ca.crt' });
    assert.deepEqual(data, { 'ca.crt': servingCa });
  });
});

test('what was deleted of the base while nobody was at work comes back, too', async () => {
  await using fleet = await startTestFleet({ clusters: ['red'], hasAccounts: true, servingCa });
  const red = fleet.clientOf('red');
  const namespace = 'kube-public';
  await red.delete(ServiceAccount, { namespace, name: 'default' });
  await red.delete(ConfigMap, { namespace, name: 'kube-root-ca.crt' });
  await using _ = runControllers(fleet, { keysOf: fleetKeys(fleet, servingCa).of });
  await eventually(() => red.get(ServiceAccount, { namespace, name: 'default' }));
  await eventually(() => red.get(ConfigMap, { namespace, name: 'kube-root-ca.crt' }));
});
