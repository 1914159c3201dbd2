import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ControlPlaneBackupSchedule } from '@hangar/backup-operator';
import { find } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import { findCondition } from '@hangar/runtime';
import { HostedControlPlane } from '../api/index.ts';
import { base64 } from '../pki/secrets.ts';
import { namespace, startTestPlatform } from '../testing/platform.ts';
import { until, untilObject, untilReady, untilReason } from '../testing/until.ts';

const key = { namespace, name: 'demo' };
const schedule = { namespace, name: 'demo-etcd' };
const etcd = { backup: { schedule: '0 1 * * *', secret: { name: 's3' } } };
const demo = (spec: object = {}) => ({ metadata: { ...key }, spec: { version: 'v1.36.4', replicas: 1, ...spec } });

test('spec.etcd.backup is a schedule of the control plane, whose times are in the status', async () => {
  await using platform = await startTestPlatform({ backups: true });
  const { client } = platform;
  platform.start();
  await client.create(HostedControlPlane, demo({ etcd }));
  await untilReason(client, 'EtcdBackupScheduled', 'BackupSecretMissing');
  // The control plane works without backups.
  await untilReady(client);
  const data = { host: base64('s3.example'), bucket: base64('backups') };
  await client.create(Secret, { metadata: { namespace, name: 's3' }, data });
  // Secrets of users are not watched: any event of the control plane repeats the pass.
  const touched = { metadata: { annotations: { touched: 'yes' } } };
  await client.patch(HostedControlPlane, key, { type: 'merge', body: touched });
  const created = await untilObject(client, ControlPlaneBackupSchedule, schedule.name, () => true);
  assert.equal(created.spec.destination.s3?.endpoint, 'https://s3.example');
  assert.equal(created.metadata.ownerReferences?.[0]?.name, 'demo');
  const times = { lastBackupTime: '2026-01-01T01:00:00Z', nextBackupTime: '2026-01-02T01:00:00Z' };
  await client.status.patch(ControlPlaneBackupSchedule, schedule, { type: 'merge', body: { status: times } });
  await until(
    client,
    'demo',
    ({ status: now }) =>
      now?.etcdLastBackupTime === times.lastBackupTime && now.etcdNextBackupTime === times.nextBackupTime,
  );
  await client.patch(HostedControlPlane, key, { type: 'merge', body: { spec: { etcd: { backup: null } } } });
  const after = await until(
    client,
    'demo',
    ({ status: now }) => findCondition(now?.conditions, 'EtcdBackupScheduled') === undefined,
  );
  assert.deepEqual(
    [after.status?.etcdLastBackupTime, after.status?.etcdNextBackupTime],
    [times.lastBackupTime, undefined],
  );
  await platform.quiet();
  assert.equal(await find(client, ControlPlaneBackupSchedule, schedule), undefined);
});

test('without the kinds of backups, the condition says so and the control plane works', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  await platform.client.create(HostedControlPlane, demo({ etcd }));
  await untilReady(platform.client);
  await untilReason(platform.client, 'EtcdBackupScheduled', 'BackupsNotInstalled');
});
