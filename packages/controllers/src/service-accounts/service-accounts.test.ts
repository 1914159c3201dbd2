import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find } from '@hangar/client';
import { Namespace, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { startTestFleet } from '@hangar/testkit';
import { countedClients } from '../testing/counted-clients.ts';
import { eventually, runControllers } from '../testing/run-controllers.ts';
import { ServiceAccountsController } from './service-accounts.ts';

const controllers = () => [new ServiceAccountsController()];
const key = { namespace: 'shop', name: 'default' };

test('a namespace gets the account default, in its own control plane and in no other', async () => {
  await using fleet = await startTestFleet({ clusters: ['red', 'blue'] });
  const { clientOf, requests } = countedClients(fleet);
  await using running = runControllers(fleet, { controllers, clientOf });
  await running.synced;
  await fleet.clientOf('red').create(Namespace, { metadata: { name: 'shop' } });
  await eventually(() => fleet.clientOf('red').get(ServiceAccount, key));
  assert.equal(await find(fleet.clientOf('blue'), ServiceAccount, key), undefined);
  assert.deepEqual(
    requests.filter((request) => request.startsWith('blue')),
    [],
  );
});

test('the management plane has one in every namespace', async () => {
  await using fleet = await startTestFleet({ clusters: [] });
  await using _ = runControllers(fleet, { controllers });
  await eventually(async () => {
    const { items } = await fleet.client.list(ServiceAccount);
    assert.deepEqual(
      items.map(({ metadata }) => metadata.namespace),
      ['default', 'kube-node-lease', 'kube-public', 'kube-system'],
    );
  });
});

test('an account that is deleted is made again; others are not', async () => {
  await using fleet = await startTestFleet({ clusters: ['red'] });
  await using _ = runControllers(fleet, { controllers });
  const red = fleet.clientOf('red');
  await red.create(Namespace, { metadata: { name: 'shop' } });
  const first = await eventually(() => red.get(ServiceAccount, key));
  await red.create(ServiceAccount, { metadata: { namespace: 'shop', name: 'other' } });
  await red.delete(ServiceAccount, { namespace: 'shop', name: 'other' });
  await red.delete(ServiceAccount, key);
  const second = await eventually(() => red.get(ServiceAccount, key));
  assert.notEqual(second.metadata.uid, first.metadata.uid);
  assert.equal(await find(red, ServiceAccount, { namespace: 'shop', name: 'other' }), undefined);
});

test('nothing is made in a namespace that is going, and the set has nothing left to do', async () => {
  await using fleet = await startTestFleet({ clusters: ['red'] });
  await using running = runControllers(fleet, { controllers });
  const red = fleet.clientOf('red');
  await red.create(Namespace, { metadata: { name: 'shop' } });
  await eventually(() => red.get(ServiceAccount, key));
  // No controller finalizes it here: it stays Terminating.
  await red.delete(Namespace, { name: 'shop' });
  await red.delete(ServiceAccount, key);
  await red.create(Namespace, { metadata: { name: 'later' } });
  await eventually(() => red.get(ServiceAccount, { namespace: 'later', name: 'default' }));
  await eventually(() => running.set.length === 0);
  assert.equal(await find(red, ServiceAccount, key), undefined);
});

test('a set that starts where all is well asks nobody; where an account is missing it is made', async () => {
  await using fleet = await startTestFleet({ clusters: ['red', 'blue'] });
  for (const cluster of fleet.clusters) {
    const client = fleet.clientOf(cluster);
    await client.create(Namespace, { metadata: { name: 'shop' } });
    if (cluster === 'red') await client.create(ServiceAccount, { metadata: key });
  }
  const { clientOf, requests } = countedClients(fleet);
  await using running = runControllers(fleet, { controllers, clientOf });
  await running.synced;
  await eventually(() => fleet.clientOf('blue').get(ServiceAccount, key));
  await eventually(() => running.set.length === 0);
  assert.deepEqual(
    requests.filter((request) => request.startsWith('red')),
    [],
  );
});

test('a control plane that comes back from others is looked at anew', async () => {
  await using fleet = await startTestFleet({ clusters: ['red'] });
  await using running = runControllers(fleet, { controllers });
  await running.synced;
  const annotate = (value: string | null) =>
    fleet.client.patch(
      { apiVersion: 'tenancy.hangar.dev/v1alpha1', kind: 'Tenant', plural: 'tenants', isNamespaced: false },
      { name: 'red' },
      { type: 'merge', body: { metadata: { annotations: { 'tenancy.hangar.dev/controllers': value } } } },
    );
  await annotate('External');
  const red = fleet.clientOf('red');
  await red.create(Namespace, { metadata: { name: 'shop' } });
  await fleet.client.create(Namespace, { metadata: { name: 'after' } });
  await eventually(() => fleet.client.get(ServiceAccount, { namespace: 'after', name: 'default' }));
  assert.equal(await find(red, ServiceAccount, key), undefined, 'what happens there is not ours');
  await annotate(null);
  await eventually(() => red.get(ServiceAccount, key));
});

test('what a control plane lacks is asked for when all of it was told, not when the others were', () => {
  const asked: string[] = [];
  const ask = ({ cluster }: { cluster: string }): void => void asked.push(cluster);
  const controller = new ServiceAccountsController({ looksAtBase: true });
  for (const cluster of ['coming', 'other']) controller.clusterChanged(cluster);
  controller.clusterComing('coming');
  controller.synced(ask);
  assert.deepEqual(asked, ['other']);
  controller.clusterGone('other');
  controller.clusterTold('coming', ask);
  assert.deepEqual(asked, ['other', 'coming']);
});
