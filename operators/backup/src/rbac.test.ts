import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { RestClient } from '@hangar/client';
import { Namespace, Secret } from '@hangar/client/kinds/core-v1';
import { ClusterRole, ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { Logger, systemClock } from '@hangar/core';
import { Activity, installCrd, Rights, startTestCluster } from '@hangar/testkit';
import { definitions } from './api/generated/index.ts';
import { ControlPlaneBackup, ControlPlaneBackupSchedule, ControlPlaneRestore, labels } from './api/index.ts';
import { backupOperator } from './operator.ts';
import { backupRules } from './rbac.ts';
import { fakeTarget } from './testing/fake-target.ts';
import { JumpingClock } from './testing/jumping-clock.ts';
import { namespace, until } from './testing/platform.ts';

const user = 'hangar-backup-operator';

test('the permissions of the controllers are enough, and none is unused', async () => {
  await using opened = new AsyncDisposableStack();
  const clock = new JumpingClock();
  const cluster = opened.use(await startTestCluster({ authorization: 'rbac', clock }));
  const { client } = cluster;
  for (const definition of definitions) await installCrd(client, definition);
  await client.create(Namespace, { metadata: { name: namespace } });
  await client.create(ClusterRole, { metadata: { name: user }, rules: [...backupRules] });
  await client.create(ClusterRoleBinding, {
    metadata: { name: user },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: user },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
  });
  const folder = await mkdtemp(join(tmpdir(), 'hangar-backup-rights-'));
  opened.defer(() => rm(folder, { recursive: true }));
  const target = fakeTarget();
  target.planes.set('demo', { objects: { a: '1' }, labels: {} });
  const rights = new Rights();
  const activity = new Activity();
  const manager = backupOperator({
    management: new RestClient(activity.watched(rights.watched(cluster.transportOf({ name: user })))),
    targets: [target],
    folder,
    clock,
    log: new Logger({ level: 'error', format: 'text', clock: systemClock, write: () => {} }),
  });
  activity.add(manager.registry);
  const ending = new AbortController();
  const running = manager.run(ending.signal);
  opened.defer(async () => {
    ending.abort();
    await running;
  });
  const key = Buffer.alloc(32, 3).toString('base64');
  await client.create(Secret, { metadata: { name: 'key', namespace }, stringData: { key } });
  const spec = { destination: { folder: { name: 'daily' } }, encryption: { name: 'key' } };
  await client.create(ControlPlaneBackupSchedule, {
    metadata: { name: 'hourly', namespace },
    spec: {
      ...spec,
      schedule: '@hourly',
      controlPlaneRef: { name: 'demo' },
      retention: { count: 1 },
      drill: { schedule: '30 * * * *' },
    },
  });
  await until(
    client,
    ControlPlaneBackupSchedule,
    { name: 'hourly' },
    (one) => one?.status?.nextBackupTime !== undefined,
  );
  await activity.idle();
  clock.jump(3_600_000);
  await until(client, ControlPlaneBackupSchedule, { name: 'hourly' }, (one) => one?.status?.backups === 1);
  await activity.idle();
  clock.jump(1_800_000);
  const isDrilled = (one?: ControlPlaneBackupSchedule) => one?.status?.drill?.result === 'Succeeded';
  await until(client, ControlPlaneBackupSchedule, { name: 'hourly' }, isDrilled);
  await activity.idle();
  clock.jump(1_800_000);
  await until(client, ControlPlaneBackup, { name: 'hourly-202601010100-demo' }, (one) => one === undefined);
  await client.create(ControlPlaneRestore, {
    metadata: { name: 'copy', namespace },
    spec: { source: { backupName: 'hourly-202601010200-demo' }, controlPlaneRef: { name: 'copy' } },
  });
  await until(client, ControlPlaneRestore, { name: 'copy' }, (one) => one?.status?.phase === 'Complete');
  // A permission counts as used when its request is answered, which can be after the watch has delivered the change.
  await activity.idle();
  assert.ok([...target.planes.values()].every((plane) => plane.labels[labels.temporary] === undefined));
  assert.deepEqual([rights.refused, rights.unused(backupRules)], [[], []]);
});
