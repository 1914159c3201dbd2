/** A control plane that is stopped by its annotation, and starts again. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ControlPlaneBackupSchedule } from '@hangar/backup-operator';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { Event } from '@hangar/client/kinds/events-v1';
import { Pod, Secret } from '@hangar/client/kinds/core-v1';
import { findCondition } from '@hangar/runtime';
import { annotations, clusterNameLabel, HostedControlPlane } from '../api/index.ts';
import { base64 } from '../pki/secrets.ts';
import { namespace, startTestPlatform } from '../testing/platform.ts';
import { until, untilGone, untilObject, untilReady, untilReason } from '../testing/until.ts';
import { nextStop } from './stopped.ts';
import type { ComponentState } from './stopped.ts';

const key = { namespace, name: 'demo' };
const stopped = (client: Client, value: 'true' | null) =>
  client.patch(HostedControlPlane, key, {
    type: 'merge',
    body: { metadata: { annotations: { [annotations.stopped]: value } } },
  });
const replicas = async (client: Client): Promise<(number | undefined)[]> => {
  const deployments = ['demo-controller-manager', 'demo-scheduler', 'demo-apiserver'];
  const found = await Promise.all(deployments.map((name) => client.get(Deployment, { namespace, name })));
  const etcd = await client.get(StatefulSet, { namespace, name: 'demo-etcd' });
  return [...found, etcd].map(({ spec }) => spec?.replicas);
};

test('each stage is stopped when the pods of the previous one are gone', () => {
  const states = (...counts: readonly (readonly [number, number])[]): ComponentState[] =>
    (['kube-controller-manager', 'kube-scheduler', 'kube-apiserver', 'etcd'] as const).map((component, at) => ({
      component,
      replicas: counts[at]![0],
      pods: counts[at]![1],
    }));
  const table: [ComponentState[], string][] = [
    [states([2, 2], [2, 2], [3, 3], [3, 3]), 'scale-down kube-controller-manager,kube-scheduler'],
    [states([0, 2], [2, 2], [3, 3], [3, 3]), 'scale-down kube-scheduler'],
    [states([0, 1], [0, 0], [3, 3], [3, 3]), 'wait'],
    [states([0, 0], [0, 0], [3, 3], [3, 3]), 'scale-down kube-apiserver'],
    [states([0, 0], [0, 0], [0, 1], [3, 3]), 'wait'],
    [states([0, 0], [0, 0], [0, 0], [3, 3]), 'scale-down etcd'],
    [states([0, 0], [0, 0], [0, 0], [0, 1]), 'wait'],
    [states([0, 0], [0, 0], [0, 0], [0, 0]), 'stopped'],
    // A component that another client scaled up is stopped again, before later stages.
    [states([1, 0], [0, 0], [0, 0], [3, 3]), 'scale-down kube-controller-manager'],
  ];
  for (const [given, expected] of table) {
    const action = nextStop(given);
    assert.equal(action.type === 'scale-down' ? `scale-down ${action.components.join(',')}` : action.type, expected);
  }
});

test('a stopped control plane keeps its Secrets, causes no requests, and starts again with them', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(HostedControlPlane, { metadata: { ...key }, spec: { version: 'v1.36.4', replicas: 2 } });
  await untilReady(client);
  const before = await replicas(client);
  const authority = await client.get(Secret, { namespace, name: 'demo-ca' });
  const labels = { [clusterNameLabel]: 'demo', 'app.kubernetes.io/component': 'kube-apiserver' };
  const pod = { namespace, name: 'demo-apiserver-1' };
  const containers = [{ name: 'main', image: 'image' }];
  await client.create(Pod, { metadata: { ...pod, labels }, spec: { nodeName: 'worker', containers } });
  await stopped(client, 'true');
  const stopping = await until(client, 'demo', ({ status }) =>
    Boolean(findCondition(status?.conditions, 'Stopped')?.message.includes('1 pods of kube-apiserver')),
  );
  assert.equal(findCondition(stopping.status!.conditions, 'Stopped')!.status, 'False');
  assert.deepEqual(await replicas(client), [0, 0, 0, 3]);
  await client.delete(Pod, pod, { gracePeriodSeconds: 0 });
  const { status } = await untilReason(client, 'Stopped', 'Stopped');
  assert.deepEqual(await replicas(client), [0, 0, 0, 0]);
  assert.equal(findCondition(status!.conditions, 'Ready')!.reason, 'Stopped');
  assert.equal(findCondition(status!.conditions, 'Available')!.status, 'False');
  assert.deepEqual([status!.ready, status!.replicas], [false, 0]);
  await platform.quiet();
  platform.forget();
  await client.patch(HostedControlPlane, key, { type: 'merge', body: { metadata: { labels: { touched: 'yes' } } } });
  await platform.quiet();
  assert.deepEqual(platform.requests, []);

  await stopped(client, null);
  const again = await untilReady(client);
  assert.equal(findCondition(again.status!.conditions, 'Stopped'), undefined);
  assert.deepEqual(await replicas(client), before);
  assert.deepEqual((await client.get(Secret, { namespace, name: 'demo-ca' })).data, authority.data);
  const { items } = await client.list(Event, { namespace });
  assert.deepEqual(
    items.filter(({ reason, type }) => reason === 'Stopped' && type === 'Normal').length,
    1,
    JSON.stringify(items.map(({ reason, note }) => [reason, note])),
  );
});

test('a stopped control plane is deleted like a running one', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(HostedControlPlane, { metadata: { ...key }, spec: { version: 'v1.36.4', replicas: 1 } });
  await untilReady(client);
  await stopped(client, 'true');
  await untilReason(client, 'Stopped', 'Stopped');
  await client.delete(HostedControlPlane, key);
  await untilGone(client);
});

test('a stopped control plane has no schedule of backups, until it starts', async () => {
  await using platform = await startTestPlatform({ backups: true });
  platform.start();
  const { client } = platform;
  const data = { host: base64('s3.example'), bucket: base64('backups') };
  await client.create(Secret, { metadata: { namespace, name: 's3' }, data });
  const etcd = { backup: { schedule: '0 1 * * *', secret: { name: 's3' } } };
  await client.create(HostedControlPlane, { metadata: { ...key }, spec: { version: 'v1.36.4', replicas: 1, etcd } });
  await untilReady(client);
  const schedule = { namespace, name: 'demo-etcd' };
  const before = await untilObject(client, ControlPlaneBackupSchedule, schedule.name, () => true);
  await stopped(client, 'true');
  await untilReason(client, 'Stopped', 'Stopped');
  assert.equal(await find(client, ControlPlaneBackupSchedule, schedule), undefined);
  await stopped(client, null);
  await untilObject(
    client,
    ControlPlaneBackupSchedule,
    schedule.name,
    ({ metadata }) => metadata.uid !== before.metadata.uid,
  );
});
