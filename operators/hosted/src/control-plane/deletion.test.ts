/** The deletion of hosted control planes: its order, and what stops it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find } from '@hangar/client';
import type { ApiObject, Client } from '@hangar/client';
import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { Event } from '@hangar/client/kinds/events-v1';
import { ConfigMap, Pod, Secret, Service } from '@hangar/client/kinds/core-v1';
import { NetworkPolicy } from '@hangar/client/kinds/networking-v1';
import { PodDisruptionBudget } from '@hangar/client/kinds/policy-v1';
import { findCondition, hasFinalizer, isControlledBy } from '@hangar/runtime';
import { annotations, clusterNameLabel, finalizer, HostedControlPlane, movedAnnotation } from '../api/index.ts';
import { Cluster, installClusterApi } from '../testing/cluster-api.ts';
import { namespace, startTestPlatform } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { ShiftedClock } from '../testing/shifted-clock.ts';
import { until, untilGone, untilObject, untilReady, untilReason } from '../testing/until.ts';

const key = { namespace, name: 'demo' };
const create = (client: Client, spec: Partial<HostedControlPlane['spec']> = {}) =>
  client.create(HostedControlPlane, { metadata: { ...key }, spec: { version: 'v1.36.4', replicas: 1, ...spec } });
const order = ['demo-controller-manager', 'demo-scheduler', 'demo-apiserver', 'demo-etcd'];

async function ready(platform: TestPlatform): Promise<{ object: HostedControlPlane; stop(): Promise<void> }> {
  const operator = platform.start();
  await create(platform.client);
  return { object: await untilReady(platform.client), stop: () => operator.stop() };
}

/** Causes a pass at once, instead of after a delay. */
const poke = (client: Client, value: string) =>
  client.patch(HostedControlPlane, key, { type: 'merge', body: { metadata: { labels: { poke: value } } } });

/** Both controllers are deleted at the same time. */
const sorted = ([first, second, ...rest]: readonly string[]): string[] => [...[first!, second!].sort(), ...rest];

const pod = (name: string, component: string) => ({
  metadata: { namespace, name, labels: { [clusterNameLabel]: 'demo', 'app.kubernetes.io/component': component } },
  spec: { nodeName: 'worker', containers: [{ name: 'main', image: 'image' }] },
});

test('workloads are deleted in their order, each after the previous ones are gone', async () => {
  await using platform = await startTestPlatform();
  const { client, workloads } = platform;
  assert.ok(hasFinalizer((await ready(platform)).object, finalizer));
  workloads.holdBack = /apiserver/;
  await client.delete(HostedControlPlane, key);
  const deleting = await until(client, 'demo', ({ status }) =>
    Boolean(findCondition(status?.conditions, 'Deleting')?.message.includes('demo-apiserver')),
  );
  const conditions = deleting.status!.conditions;
  assert.deepEqual(
    ['Deleting', 'Ready', 'Available'].map((type) => {
      const { status, reason } = findCondition(conditions, type)!;
      return [type, status, reason];
    }),
    [
      ['Deleting', 'True', 'WaitingForPods'],
      ['Ready', 'False', 'Deleting'],
      ['Available', 'False', 'Deleting'],
    ],
  );
  assert.equal((await client.get(StatefulSet, { namespace, name: 'demo-etcd' })).metadata.deletionTimestamp, undefined);
  workloads.holdBack = undefined;
  await workloads.refresh();
  await untilGone(client);
  assert.deepEqual(sorted(workloads.deleted), order);
});

test('API servers get a short grace period when their etcd is deleted at the same time', async () => {
  await using platform = await startTestPlatform();
  const { client, workloads } = platform;
  await ready(platform);
  const name = 'demo-apiserver-1';
  await client.create(Pod, pod(name, 'kube-apiserver'));
  const before = await client.get(Pod, { namespace, name });
  workloads.holdBack = /controller-manager/;
  // Only what the garbage collector does in a deletion of the HostedControlPlane in the foreground.
  await client.delete(HostedControlPlane, key);
  await until(client, 'demo', ({ status }) => findCondition(status?.conditions, 'Deleting') !== undefined);
  assert.deepEqual((await client.get(Pod, { namespace, name })).metadata, before.metadata);
  await client.delete(StatefulSet, { namespace, name: 'demo-etcd' }, { propagationPolicy: 'Foreground' });
  await untilObject(client, Pod, name, ({ metadata }) => metadata.deletionGracePeriodSeconds === 1);
  await client.delete(Pod, { namespace, name }, { gracePeriodSeconds: 0 });
  workloads.holdBack = undefined;
  await workloads.refresh();
  await untilGone(client);
});

test('a deletion that orphans the objects deletes nothing', async () => {
  await using platform = await startTestPlatform();
  const { client, workloads } = platform;
  await ready(platform);
  await client.delete(HostedControlPlane, key, { propagationPolicy: 'Orphan' });
  await until(client, 'demo', ({ metadata }) => !metadata.finalizers?.includes(finalizer));
  assert.deepEqual(workloads.deleted, []);
  await client.get(StatefulSet, { namespace, name: 'demo-etcd' });
});

test('workloads that the garbage collector already orphaned are not deleted', async () => {
  await using platform = await startTestPlatform();
  const { client, workloads } = platform;
  const { stop } = await ready(platform);
  await stop();
  await client.delete(HostedControlPlane, key, { propagationPolicy: 'Orphan' });
  for (const name of ['demo-apiserver', 'demo-controller-manager', 'demo-scheduler']) {
    await client.patch(Deployment, { namespace, name }, { type: 'merge', body: { metadata: { ownerReferences: [] } } });
  }
  const name = 'demo-etcd';
  await client.patch(StatefulSet, { namespace, name }, { type: 'merge', body: { metadata: { ownerReferences: [] } } });
  await client.patch(HostedControlPlane, key, { type: 'merge', body: { metadata: { finalizers: [finalizer] } } });
  platform.start();
  await untilGone(client);
  assert.deepEqual(workloads.deleted, []);
});

test('a paused control plane is not deleted until it is resumed', async () => {
  await using platform = await startTestPlatform();
  const { client, workloads } = platform;
  await ready(platform);
  const pause = (value: string | null) =>
    client.patch(HostedControlPlane, key, {
      type: 'merge',
      body: { metadata: { annotations: { 'cluster.x-k8s.io/paused': value } } },
    });
  await pause('');
  await client.delete(HostedControlPlane, key);
  await untilReason(client, 'Deleting', 'Paused');
  assert.deepEqual(workloads.deleted, []);
  await pause(null);
  await untilGone(client);
  assert.deepEqual(sorted(workloads.deleted), order);
});

test('a control plane of a Cluster that no longer exists is deleted', async () => {
  await using platform = await startTestPlatform({ clusterApi: 'v1beta2' });
  const { client, workloads } = platform;
  await installClusterApi(client);
  platform.start();
  const { apiVersion, kind, metadata } = await client.create(Cluster, { metadata: { ...key, name: 'east' }, spec: {} });
  const ownerReferences = [{ apiVersion, kind, name: metadata.name!, uid: metadata.uid! }];
  await client.create(HostedControlPlane, {
    metadata: { ...key, ownerReferences },
    spec: { version: 'v1.36.4', replicas: 1 },
  });
  await untilReady(client);
  await client.delete(Cluster, { namespace, name: 'east' });
  await client.delete(HostedControlPlane, key);
  await untilGone(client);
  assert.equal(workloads.deleted.at(-1), 'east-etcd');
});

test('an object that clusterctl deletes after a move keeps its workloads', async () => {
  await using platform = await startTestPlatform();
  const { client, workloads } = platform;
  await ready(platform);
  const patch = (metadata: object) => client.patch(HostedControlPlane, key, { type: 'merge', body: { metadata } });
  await patch({ annotations: { [movedAnnotation]: '' } });
  await client.delete(HostedControlPlane, key);
  await platform.quiet();
  assert.deepEqual(workloads.deleted, []);
  await patch({ finalizers: [] });
  await untilGone(client);
  await platform.quiet();
  const etcd = await client.get(StatefulSet, { namespace, name: 'demo-etcd' });
  assert.equal(etcd.metadata.deletionTimestamp, undefined);
});

test('a control plane without an operator, or with a fault of its spec, is deleted at once', async () => {
  await using platform = await startTestPlatform();
  const { client } = platform;
  await create(client);
  await client.delete(HostedControlPlane, key);
  assert.equal(await find(client, HostedControlPlane, key), undefined);
  platform.start();
  await create(client, { version: 'v1.20.0' });
  await untilReason(client, 'Ready', 'UnsupportedVersion');
  await client.delete(HostedControlPlane, key);
  assert.equal(await find(client, HostedControlPlane, key), undefined);
});

test('a control plane that never became ready is deleted', async () => {
  await using platform = await startTestPlatform();
  const { client, workloads } = platform;
  workloads.holdBack = /etcd/;
  platform.start();
  await create(client);
  await untilReason(client, 'EtcdClusterReady', 'MembersNotReady');
  workloads.holdBack = undefined;
  await client.delete(HostedControlPlane, key);
  await untilGone(client);
  assert.deepEqual(workloads.deleted, ['demo-etcd']);
});

test('pods that outlive their workload are awaited, and named when they do not terminate', async () => {
  const clock = new ShiftedClock();
  await using platform = await startTestPlatform({ clock });
  const { client, workloads } = platform;
  await ready(platform);
  await client.create(Pod, pod('demo-apiserver-1', 'kube-apiserver'));
  await client.delete(Pod, { namespace, name: 'demo-apiserver-1' });
  await client.delete(HostedControlPlane, key);
  const waiting = await until(client, 'demo', ({ status }) =>
    Boolean(findCondition(status?.conditions, 'Deleting')?.message.includes('demo-apiserver-1')),
  );
  assert.equal(findCondition(waiting.status!.conditions, 'Deleting')!.reason, 'WaitingForPods');
  await client.get(StatefulSet, { namespace, name: 'demo-etcd' });
  clock.aheadDays = 1;
  await poke(client, 'later');
  const stuck = await untilReason(client, 'Deleting', 'PodsNotTerminating');
  assert.match(
    findCondition(stuck.status!.conditions, 'Deleting')!.message,
    /^Pods of kube-apiserver: "demo-apiserver-1" on Node "worker" did not terminate within the grace period/,
  );
  assert.equal((await untilEvent(client, 'PodsNotTerminating')).type, 'Warning');
  await client.delete(Pod, { namespace, name: 'demo-apiserver-1' }, { gracePeriodSeconds: 0 });
  await poke(client, 'gone');
  await untilGone(client);
  assert.equal(workloads.deleted.at(-1), 'demo-etcd');
});

async function untilEvent(client: Client, reason: string): Promise<Event> {
  const options = { namespace, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' as const };
  for await (const event of client.watch(Event, options)) {
    if (event.type !== 'BOOKMARK' && event.object.reason === reason) return event.object;
  }
  throw new Error('the watch ended');
}

test('a workload of another owner is not deleted', async () => {
  await using platform = await startTestPlatform();
  const { client, workloads } = platform;
  const { object, stop } = await ready(platform);
  await stop();
  const name = 'demo-scheduler';
  await client.patch(Deployment, { namespace, name }, { type: 'merge', body: { metadata: { ownerReferences: [] } } });
  await client.delete(HostedControlPlane, key);
  platform.start();
  await untilGone(client);
  assert.deepEqual(workloads.deleted, ['demo-controller-manager', 'demo-apiserver', 'demo-etcd']);
  assert.equal(isControlledBy(await client.get(Deployment, { namespace, name }), object), false);
});

test('the finalizer is added to objects of an earlier operator', async () => {
  await using platform = await startTestPlatform();
  const { client } = platform;
  const { stop } = await ready(platform);
  await stop();
  await client.patch(HostedControlPlane, key, {
    type: 'merge',
    body: { metadata: { finalizers: ['example.com/other'] } },
  });
  platform.start();
  const { metadata } = await untilObject(client, HostedControlPlane, 'demo', (one) => hasFinalizer(one, finalizer));
  assert.deepEqual(metadata.finalizers, ['example.com/other', finalizer]);
  assert.equal(metadata.annotations?.[annotations.rendering], '1');
});

test('a control plane that is created again at once gets new authorities; those of users stay', async () => {
  await using platform = await startTestPlatform();
  const { client } = platform;
  const authority = async () => (await client.get(Secret, { namespace, name: 'demo-ca' })).data!['tls.crt'];
  await ready(platform);
  const before = await authority();
  const labels = { [clusterNameLabel]: 'demo' };
  await client.create(Secret, { metadata: { namespace, name: 'of-the-user', labels } });
  for (let round = 0; round < 3; round++) {
    await client.delete(HostedControlPlane, key);
    await untilGone(client);
    const { items } = await client.list(Secret, { namespace });
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ['of-the-user'],
    );
    assert.equal(await find(client, ConfigMap, { namespace, name: 'demo-ca-bundle' }), undefined);
    // The garbage collector deletes these later.
    await client.deleteCollection<ApiObject>(Service, { namespace });
    await client.deleteCollection<ApiObject>(PodDisruptionBudget, { namespace });
    await client.deleteCollection<ApiObject>(NetworkPolicy, { namespace });
    await create(client);
    await untilReady(client);
    assert.notEqual(await authority(), before);
  }
});
