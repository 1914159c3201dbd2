/** Upgrades of etcd, with a management cluster in this process. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ControlPlaneBackup, ControlPlaneBackupSchedule } from '@hangar/backup-operator';
import type { Client } from '@hangar/client';
import { StatefulSet } from '@hangar/client/kinds/apps-v1';
import { Pod } from '@hangar/client/kinds/core-v1';
import { findCondition } from '@hangar/runtime';
import { annotations, clusterNameLabel, HostedControlPlane } from '../api/index.ts';
import { namespace, startTestPlatform } from '../testing/platform.ts';
import { until, untilObject, untilReady, untilReason } from '../testing/until.ts';

const key = { namespace, name: 'demo' };
const [older, newer] = ['3.5.26-0', '3.6.8-0'];
const create = (client: Client, etcd: object = {}) =>
  client.create(HostedControlPlane, { metadata: { ...key }, spec: { version: 'v1.33.4', etcd } });
const change = (client: Client, body: object) => client.patch(HostedControlPlane, key, { type: 'merge', body });
const upgrade = (client: Client, version = '3.6.8') => change(client, { spec: { etcd: { version } } });
/** Causes a pass: the operator polls backups every ten seconds. */
const touch = (client: Client) => change(client, { metadata: { labels: { touched: String(performance.now()) } } });
const tagOf = ({ spec }: StatefulSet): string => spec!.template.spec!.containers[0]!.image!.split(':')[1]!;
const imageTag = async (client: Client): Promise<string> =>
  tagOf(await client.get(StatefulSet, { namespace, name: 'demo-etcd' }));
const untilTag = (client: Client, tag: string) =>
  untilObject(client, StatefulSet, 'demo-etcd', (set) => tagOf(set) === tag);
const noted = async (client: Client, name: string): Promise<string | undefined> =>
  (await client.get(HostedControlPlane, key)).metadata.annotations?.[name];

test('an upgrade to the next minor version makes a backup first, with the settings of the schedule', async () => {
  await using platform = await startTestPlatform({ backups: true });
  const { client } = platform;
  platform.start();
  const destination = { folder: { name: 'nightly' } };
  await client.create(ControlPlaneBackupSchedule, {
    metadata: { namespace, name: 'nightly' },
    spec: { controlPlaneRef: { kind: 'HostedControlPlane', name: 'demo' }, schedule: '@daily', destination },
  });
  await create(client);
  await untilReady(client);
  assert.equal(await imageTag(client), older);
  await upgrade(client);
  await untilReason(client, 'EtcdClusterReady', 'EtcdUpgradeWaiting');
  const [backup] = (await client.list(ControlPlaneBackup, { namespace })).items;
  assert.deepEqual(backup!.spec.controlPlaneRef, { kind: 'HostedControlPlane', name: 'demo' });
  assert.deepEqual(backup!.spec.destination, destination);
  assert.equal(await imageTag(client), older);
  const done = { type: 'merge' as const, body: { status: { phase: 'Complete' as const } } };
  await client.status.patch(ControlPlaneBackup, { namespace, name: backup!.metadata.name! }, done);
  await touch(client);
  await untilTag(client, newer);
  // The next pass finds that all members have the version.
  await until(client, 'demo', ({ metadata }) => metadata.annotations?.[annotations.etcdUpgrade] === undefined);
  await untilReady(client);
  assert.equal((await client.list(ControlPlaneBackup, { namespace })).items.length, 1);
});

test('without backups an upgrade waits for the consent of a user', async () => {
  await using platform = await startTestPlatform();
  const { client } = platform;
  platform.start();
  await create(client);
  await untilReady(client);
  await upgrade(client);
  await untilReason(client, 'EtcdClusterReady', 'EtcdUpgradeWaiting');
  assert.equal(await imageTag(client), older);
  await change(client, { metadata: { annotations: { [annotations.etcdUpgradeWithoutSnapshot]: '3.6.8' } } });
  await untilTag(client, newer);
});

test('a member that crashes with the new version brings the previous one back, and the condition says so', async () => {
  await using platform = await startTestPlatform();
  const { client, workloads } = platform;
  platform.start();
  await create(client);
  await untilReady(client);
  workloads.ready.set('demo-etcd', 2);
  await change(client, {
    metadata: { annotations: { [annotations.etcdUpgradeWithoutSnapshot]: '3.6.8' } },
    spec: { etcd: { version: '3.6.8' } },
  });
  await untilTag(client, newer);
  const labels = { [clusterNameLabel]: 'demo', 'app.kubernetes.io/component': 'etcd' };
  const image = `registry.k8s.io/etcd:${newer}`;
  const pod = { namespace, name: 'demo-etcd-2' };
  await client.create(Pod, { metadata: { ...pod, labels }, spec: { containers: [{ name: 'etcd', image }] } });
  const crashed = { name: 'etcd', image, imageID: '', ready: false, restartCount: 3 };
  const containerStatuses = [{ ...crashed, state: { waiting: { reason: 'CrashLoopBackOff' } } }];
  await client.status.patch(Pod, pod, { type: 'merge', body: { status: { containerStatuses } } });
  await touch(client);
  await untilTag(client, older);
  assert.equal(await noted(client, annotations.etcdUpgradeFailed), newer);
  workloads.ready.delete('demo-etcd');
  await workloads.refresh();
  await untilReason(client, 'EtcdClusterReady', 'EtcdUpgradeFailed');
  assert.equal(await imageTag(client), older);
  await change(client, { metadata: { annotations: { [annotations.etcdUpgradeFailed]: null } } });
  await untilTag(client, newer);
});

test('an older version of etcd in another version of Kubernetes is refused with a condition', async () => {
  await using platform = await startTestPlatform();
  const { client } = platform;
  platform.start();
  await create(client, { version: '3.6.8' });
  await untilReady(client);
  await change(client, { spec: { etcd: { version: null } } });
  const { status } = await untilReason(client, 'EtcdClusterReady', 'EtcdDowngrade');
  assert.match(findCondition(status!.conditions, 'Ready')!.message, /cannot be downgraded to 3\.5\.26-0/);
  assert.equal(await imageTag(client), newer);
});
