import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installCrd } from '@hangar/testkit';
import { definitions } from '../../operators/backup/src/api/generated/index.ts';
import { ControlPlaneBackup, ControlPlaneBackupSchedule } from '../../apps/cli/src/kinds.ts';
import { openTestWorld } from '../../apps/cli/src/testing/test-session.ts';

const namespace = 'default';
const destination = { folder: { name: 'daily' } };

test('backups lists schedules and backups, newest first, and those of a name', async () => {
  await using world = await openTestWorld();
  const missing = await world.run('backups');
  assert.equal(missing.code, 1);
  assert.match(missing.err, /the server does not serve ControlPlaneBackups/);
  for (const definition of definitions) await installCrd(world.client, definition);
  const none = await world.run('backups');
  assert.deepEqual([none.code, none.out], [0, '']);
  assert.match(none.err, /there are no backups and no schedules/);

  const schedule = { schedule: '@daily', destination, controlPlaneSelector: {} };
  await world.client.create(ControlPlaneBackupSchedule, { metadata: { name: 'nightly', namespace }, spec: schedule });
  const drill = { result: 'Succeeded', completionTime: '2026-01-01T00:00:00Z' };
  const status = { controlPlanes: 2, backups: 1, failing: 1, nextBackupTime: '2030-01-01T00:00:00Z', drill };
  const nightly = { namespace, name: 'nightly' };
  await world.client.status.patch(ControlPlaneBackupSchedule, nightly, { type: 'merge', body: { status } });
  const conditions = [
    {
      type: 'Complete',
      status: 'False',
      reason: 'StorageFull',
      message: 'it is full',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ];
  for (const [name, plane, state] of [
    ['first', 'red', { phase: 'Complete', sizeBytes: 2048, objects: 7, location: 's3://backups' }],
    ['second', 'blue', { phase: 'Failed', conditions }],
  ] as const) {
    const spec = { controlPlaneRef: { name: plane }, destination };
    await world.client.create(ControlPlaneBackup, { metadata: { name, namespace }, spec });
    const body = { status: state };
    await world.client.status.patch(ControlPlaneBackup, { namespace, name }, { type: 'merge', body });
  }
  const all = await world.run('backups');
  assert.equal(all.code, 0, all.err);
  assert.match(all.out, /^default\/nightly +@daily +2 +1 +1 +- +2030-01-01T00:00:00Z +Succeeded \w+ ago$/m);
  assert.match(all.out, /^default\/first +red +Complete +2KiB +7 +\w+ +s3:\/\/backups$/m);
  assert.match(all.out, /^default\/second +blue +Failed +- +- +\w+ +it is full$/m);
  const red = await world.run('backups', 'red');
  assert.match(red.out, /default\/first/);
  assert.doesNotMatch(red.out, /default\/second/);
  assert.equal((await world.run('backups', 'red', '-o', 'name')).out, 'controlplanebackup.backup.hangar.dev/first\n');
});
