import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lease } from '@hangar/client/kinds/coordination-v1';
import { Node } from '@hangar/client/kinds/core-v1';
import { Logger } from '@hangar/core';
import { startTestCluster, virtualClock } from '@hangar/testkit';
import { NodeHeart } from './node.ts';

async function startHeart(clock: ReturnType<typeof virtualClock>) {
  const cluster = await startTestCluster({ clock });
  let port: number | undefined;
  const heart = new NodeHeart({
    client: cluster.client,
    clock,
    log: new Logger({ level: 'silent', format: 'text', clock }),
    name: 'local',
    address: '127.0.0.1',
    externalAddresses: ['192.0.2.1'],
    capacity: { cpu: '2', memory: '4Gi', pods: '10' },
    kubeletPort: () => port,
    version: '0',
  });
  await clock.run(heart.start());
  const node = () => clock.run(cluster.client.get(Node, { name: 'local' }));
  const lease = () => clock.run(cluster.client.get(Lease, { namespace: 'kube-node-lease', name: 'local' }));
  return { cluster, heart, node, lease, setPort: (number: number) => (port = number) };
}

test('the Lease is renewed every ten seconds and is owned by the node', async () => {
  const clock = virtualClock();
  const { cluster, heart, node, lease } = await startHeart(clock);
  const first = await lease();
  assert.equal(first.spec?.leaseDurationSeconds, 40);
  assert.equal(first.metadata.ownerReferences?.[0]?.uid, (await node()).metadata.uid);
  await clock.advance(10_000);
  const second = await lease();
  assert.equal(Date.parse(second.spec!.renewTime!) - Date.parse(first.spec!.renewTime!), 10_000);
  const { status } = await node();
  assert.deepEqual(status?.capacity, { cpu: '2', memory: '4Gi', pods: '10' });
  assert.deepEqual(status?.allocatable, status?.capacity);
  assert.deepEqual(status?.addresses, [
    { type: 'InternalIP', address: '127.0.0.1' },
    { type: 'ExternalIP', address: '192.0.2.1' },
    { type: 'Hostname', address: 'local' },
  ]);
  await clock.run(heart.close({ isShutDown: false }));
  await cluster[Symbol.asyncDispose]();
});

test('a new port of the kubelet API is written at once, and a deleted node is registered again', async () => {
  const clock = virtualClock();
  const { cluster, heart, node, setPort } = await startHeart(clock);
  setPort(10_250);
  heart.refresh();
  await clock.advance(1);
  assert.equal((await node()).status?.daemonEndpoints?.kubeletEndpoint?.Port, 10_250);
  const { metadata } = await node();
  await clock.run(cluster.client.delete(Node, { name: 'local' }));
  // The Lease needs no node; the status is written every minute.
  await clock.advance(80_000);
  const again = await node();
  assert.notEqual(again.metadata.uid, metadata.uid);
  assert.equal(again.status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
  await clock.run(heart.close({ isShutDown: true }));
  assert.equal((await node()).status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'False');
  await cluster[Symbol.asyncDispose]();
});
