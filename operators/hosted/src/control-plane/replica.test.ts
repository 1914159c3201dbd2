/** A control plane that is a replica: what starts in each phase of its annotation. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { ConfigMap, Secret } from '@hangar/client/kinds/core-v1';
import { findCondition } from '@hangar/runtime';
import { annotations, HostedControlPlane } from '../api/index.ts';
import type { ReplicaState } from '../api/index.ts';
import { namespace, startTestPlatform } from '../testing/platform.ts';
import { until, untilReady, untilReason } from '../testing/until.ts';

const key = { namespace, name: 'demo' };
const state: ReplicaState = {
  id: 'm1',
  phase: 'Preparing',
  attempt: 0,
  issuer: 'https://hangar.test/clusters/demo/control-plane',
  servingCa: '-----BEGIN CERTIFICATE-----\nof the address\n-----END CERTIFICATE-----\n',
  serviceCidrs: ['10.0.0.0/24'],
};
const write = (client: Client, phase: ReplicaState['phase']) => {
  const body = { metadata: { annotations: { [annotations.replica]: JSON.stringify({ ...state, phase }) } } };
  return client.patch(HostedControlPlane, key, { type: 'merge', body });
};
const replicasOf = async (client: Client, name: string): Promise<number | undefined> =>
  (await find(client, Deployment, { namespace, name: `demo-${name}` }))?.spec?.replicas;

test('a replica starts etcd, API servers and controllers in the order of its phases', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  const notes = { [annotations.replicaOf]: 'm1' };
  await client.create(HostedControlPlane, {
    metadata: { ...key, annotations: notes },
    spec: { version: 'v1.36.4', replicas: 1, etcd: { replicas: 1 } },
  });
  await untilReason(client, 'CACertificatesReady', 'Replicating');
  await write(client, 'Preparing');
  await platform.quiet();
  assert.equal(await find(client, Secret, { namespace, name: 'demo-ca' }), undefined);

  await write(client, 'Seeding');
  await untilReason(client, 'InternalKubeconfigReady', 'Replicating');
  const set = await client.get(StatefulSet, { namespace, name: 'demo-etcd' });
  assert.ok(set.spec!.template.spec!.containers[0]!.args!.includes('--max-txn-ops=10240'));
  assert.equal(await replicasOf(client, 'apiserver'), undefined);

  await write(client, 'Fenced');
  const fenced = await untilReason(client, 'WorkloadSetupReady', 'Replicating');
  assert.equal(findCondition(fenced.status!.conditions, 'Available')!.status, 'True');
  assert.deepEqual([await replicasOf(client, 'apiserver'), await replicasOf(client, 'controller-manager')], [1, 0]);
  const server = await client.get(Deployment, { namespace, name: 'demo-apiserver' });
  const args = server.spec!.template.spec!.containers[0]!.args!;
  for (const one of [
    `--service-account-issuer=${state.issuer}`,
    '--storage-media-type=application/json',
    '--endpoint-reconciler-type=none',
    '--service-cluster-ip-range=10.0.0.0/24',
  ]) {
    assert.ok(args.includes(one), one);
  }
  assert.equal(platform.requests.filter((one) => one.startsWith('PATCH inside ')).length, 0);

  await write(client, 'Active');
  await untilReady(client);
  assert.equal(await replicasOf(client, 'controller-manager'), 1);
  const manager = await client.get(Deployment, { namespace, name: 'demo-controller-manager' });
  assert.match(manager.spec!.template.spec!.containers[0]!.args!.join(' '), /--root-ca-file=\S+\/root-ca\.crt( |$)/);
  const bundle = await client.get(ConfigMap, { namespace, name: 'demo-ca-bundle' });
  assert.equal(bundle.data!['root-ca.crt'], `${bundle.data!['ca.crt']}${state.servingCa}`);
  const insideWrites = platform.requests.filter((one) => one.startsWith('PATCH inside '));
  assert.equal(insideWrites.length, 1, `join objects and addons stay those of the tenant: ${insideWrites.join('\n')}`);
  assert.match(insideWrites[0]!, /clusterrolebindings/);
  const after = await client.get(Deployment, { namespace, name: 'demo-apiserver' });
  assert.deepEqual(after.spec, server.spec, 'an activation does not restart API servers');
  assert.equal(
    (await client.get(StatefulSet, { namespace, name: 'demo-etcd' })).metadata.generation,
    set.metadata.generation,
  );

  // On the way back.
  await write(client, 'Fenced');
  await until(client, 'demo', ({ status }) => findCondition(status?.conditions, 'Ready')?.reason === 'Replicating');
  assert.deepEqual([await replicasOf(client, 'apiserver'), await replicasOf(client, 'scheduler')], [1, 0]);
});
