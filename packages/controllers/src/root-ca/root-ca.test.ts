import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigMap, Namespace } from '@hangar/client/kinds/core-v1';
import { startTestFleet } from '@hangar/testkit';
import { countedClients } from '../testing/counted-clients.ts';
import { fleetKeys } from '../testing/fleet-keys.ts';
import { eventually, runControllers } from '../testing/run-controllers.ts';
import { RootCaController } from './root-ca.ts';

const Tenant = {
  apiVersion: 'tenancy.hangar.dev/v1alpha1',
  kind: 'Tenant',
  plural: 'tenants',
  isNamespaced: false,
} as const;

const controllers = (world: ConstructorParameters<typeof RootCaController>[0]) => [new RootCaController(world)];
const key = { namespace: 'shop', name: 'kube-root-ca.crt' };
const description = 'kubernetes.io/description';

test('a namespace gets the CA of its own control plane’s port', async () => {
  await using fleet = await startTestFleet({ clusters: ['red'] });
  const keys = fleetKeys(fleet);
  await using _ = runControllers(fleet, { controllers, keysOf: keys.of });
  const red = fleet.clientOf('red');
  await red.create(Namespace, { metadata: { name: 'shop' } });
  const map = await eventually(() => red.get(ConfigMap, key));
  assert.deepEqual(map.data, { 'ca.crt': 'the CA' });
  assert.match(map.metadata.annotations![description]!, /^Contains a CA bundle .* Kubernetes clusters\.$/);
});

test('whatever is done to it, it is put right; what others added to its metadata stays', async () => {
  await using fleet = await startTestFleet({ clusters: ['red'] });
  const keys = fleetKeys(fleet);
  await using running = runControllers(fleet, { controllers, keysOf: keys.of });
  const red = fleet.clientOf('red');
  await red.create(Namespace, { metadata: { name: 'shop' } });
  await eventually(() => red.get(ConfigMap, key));
  const isRight = async (): Promise<ConfigMap> => {
    const map = await red.get(ConfigMap, key);
    assert.deepEqual(map.data, { 'ca.crt': 'the CA' });
    assert.ok(map.metadata.annotations?.[description]);
    return map;
  };
  const patches = [
    { data: { 'ca.crt': 'not ours' } },
    { data: { more: 'yes' } },
    { data: null },
    { metadata: { annotations: { [description]: null }, labels: { kept: 'yes' } } },
  ];
  for (const body of patches) {
    await red.patch(ConfigMap, key, { type: 'merge', body });
    await eventually(isRight);
  }
  await red.delete(ConfigMap, key);
  await eventually(isRight);
  await red.patch(ConfigMap, key, { type: 'merge', body: { metadata: { labels: { kept: 'yes' } } } });
  await red.patch(ConfigMap, key, { type: 'merge', body: { data: { 'ca.crt': '' } } });
  const last = await eventually(isRight);
  assert.equal(last.metadata.labels!['kept'], 'yes');
  await eventually(() => running.set.length === 0);
  const settled = await red.get(ConfigMap, key);
  assert.equal(settled.metadata.resourceVersion, last.metadata.resourceVersion, 'once it is right, nothing is written');
});

test('a server with another CA puts all of them right; with the same one it opens no control plane', async () => {
  await using fleet = await startTestFleet({ clusters: ['red', 'blue'] });
  const keys = fleetKeys(fleet);
  {
    await using _ = runControllers(fleet, { controllers, keysOf: keys.of });
    for (const cluster of fleet.clusters) {
      const client = fleet.clientOf(cluster);
      for (const name of ['shop', 'store']) await client.create(Namespace, { metadata: { name } });
      for (const namespace of ['shop', 'store']) await eventually(() => client.get(ConfigMap, { ...key, namespace }));
    }
  }
  const again = countedClients(fleet);
  {
    await using running = runControllers(fleet, { controllers, keysOf: keys.of, clientOf: again.clientOf });
    await running.synced;
    await eventually(() => running.set.length === 0);
    const ofTenants = again.requests.filter((request) => !request.startsWith('root'));
    assert.deepEqual(ofTenants, []);
  }
  keys.servingCa = 'another CA';
  await using _ = runControllers(fleet, { controllers, keysOf: keys.of });
  await eventually(async () => {
    const { items } = await fleet.wildcardClient.list(ConfigMap, { fieldSelector: 'metadata.name=kube-root-ca.crt' });
    assert.equal(items.length, 8);
    for (const { data } of items) assert.deepEqual(data, { 'ca.crt': 'another CA' });
  });
});

test('a control plane that gets a port for nodes gets the CA of the port in all namespaces', async () => {
  await using fleet = await startTestFleet({ clusters: ['red'] });
  const keys = fleetKeys(fleet);
  await using running = runControllers(fleet, { controllers, keysOf: keys.of });
  const red = fleet.clientOf('red');
  await red.create(Namespace, { metadata: { name: 'shop' } });
  await eventually(() => red.get(ConfigMap, key));
  await eventually(() => running.set.length === 0);
  keys.servingCa = 'both CAs';
  const nodes = { port: 7500, endpoint: 'https://10.0.0.1:7500', caBundle: 'YQ==', serviceCIDR: '10.0.0.0/24' };
  await fleet.client.status.patch(Tenant, { name: 'red' }, { type: 'merge', body: { status: { nodes } } });
  await eventually(async () => assert.equal((await red.get(ConfigMap, key)).data!['ca.crt'], 'both CAs'));
});
