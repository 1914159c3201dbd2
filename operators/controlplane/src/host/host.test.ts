/** Both kinds of hosts, on a Hangar that listens. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { httpTransport } from '@hangar/client';
import { startTestFleet } from '@hangar/testkit';
import { kubeconfigHost, pathHost, Tenant } from './index.ts';

test('by path: one connection, whose end is not that of a client', async () => {
  await using fleet = await startTestFleet({ clusters: ['red', 'blue'], listen: true });
  const transport = httpTransport(fleet.configOf());
  const host = pathHost({ transport, internalUrl: 'https://hangar.internal', servingCa: () => 'ca' });
  for (const path of ['red', 'blue', 'red']) {
    const inside = await host.enter(path);
    await inside.apply(ConfigMap, { metadata: { namespace: 'default', name: `in-${path}` } }, { fieldManager: 'test' });
    await inside.close();
  }
  assert.deepEqual(
    (await host.client.list(Tenant)).items.map(({ metadata }) => metadata.name),
    ['blue', 'red'],
  );
  await fleet.clientOf('blue').get(ConfigMap, { namespace: 'default', name: 'in-blue' });
  await transport.close();
});

test('by kubeconfig: with certificates of the tenants’ own, also when a tenant is made anew', async () => {
  await using fleet = await startTestFleet({ clusters: ['red'], listen: true });
  const host = kubeconfigHost({ config: fleet.configOf() });
  const write = async (name: string): Promise<void> => {
    const inside = await host.enter('red');
    try {
      await inside.create(ConfigMap, { metadata: { namespace: 'default', name } });
    } finally {
      await inside.close();
    }
  };
  await write('one');
  await write('two');
  await fleet.deleteCluster('red');
  await fleet.createCluster('red');
  // Another authority: what was kept is worth nothing.
  await write('three');
  assert.deepEqual(
    (await fleet.clientOf('red').list(ConfigMap, { namespace: 'default' })).items.map(({ metadata }) => metadata.name),
    ['three'],
  );
  await fleet.deleteCluster('red');
  await assert.rejects(write('four'));
  await host.client.close();
});

test('by kubeconfig: a host says where it is, and whose certificates it shows', async () => {
  const config = { server: 'https://hangar.example:6443', ca: 'PEM' };
  const host = kubeconfigHost({ config, externalUrl: 'https://outside.example' });
  assert.deepEqual(
    [host.internalUrl, host.externalUrl, await host.servingCa()],
    [config.server, 'https://outside.example', 'PEM'],
  );
  await host.client.close();
});
