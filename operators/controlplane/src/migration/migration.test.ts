/** Migrations by the operator, with models of both sides and a double of the operator of hosted control planes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodedError } from '@hangar/core';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Namespace, Secret } from '@hangar/client/kinds/core-v1';
import { findCondition } from '@hangar/runtime';
import { ControlPlane, ControlPlaneRegistration } from '../api/index.ts';
import type { ControlPlaneMode, ControlPlaneSpec } from '../api/index.ts';
import { HostedControlPlane } from '../dedicated/hosted-control-plane.ts';
import { startDedicatedPlatform } from '../dedicated/testing/dedicated-platform.ts';
import { Tenant } from '../host/index.ts';
import { until, untilGone, untilReady, untilReason } from '../testing/until.ts';
import { migrationSteps } from './step-conditions.ts';
import { testMigrations } from './testing/migration-platform.ts';

const name = 'shop';
const key = { namespace: 'kplane-cp-shop', name };

async function started(spec: ControlPlaneSpec = {}) {
  const migrations = testMigrations();
  const the = await startDedicatedPlatform({ migration: migrations.platform });
  the.platform.start();
  const { client } = the;
  const migration = { gracePeriodSeconds: 0 };
  await client.create(ControlPlane, { metadata: { name }, spec: { deletionPolicy: 'Destroy', migration, ...spec } });
  const plane = await untilReady(client, name);
  return { ...the, client, migrations, plane, [Symbol.asyncDispose]: () => the[Symbol.asyncDispose]() };
}

const want = (client: Client, mode: ControlPlaneMode) =>
  client.patch(ControlPlane, { name }, { type: 'merge', body: { spec: { mode } } });

const untilMigrated = async (client: Client, to: ControlPlaneMode): Promise<ControlPlane> =>
  (await until(client, ControlPlane, name, (one) => {
    const { migration, phase } = one!.status!;
    return migration?.to === to && migration.completedAt !== undefined && phase === 'Ready';
  }))!;

test('a control plane moves to mode Dedicated and back, with the same address and kubeconfig', async () => {
  await using the = await started();
  const { client, migrations, plane } = the;
  const reference = plane.status!.kubeconfigSecretRef!;
  const secret = await client.get(Secret, reference);
  await want(client, 'Dedicated');
  const moved = await untilMigrated(client, 'Dedicated');
  const { migration, endpoint, endpoints, conditions } = moved.status!;
  assert.equal(migration!.outcome, 'Switched');
  assert.deepEqual(
    migration!.conditions!.map(({ type, status }) => [type, status]),
    migrationSteps.map((step) => [step, 'True']),
  );
  assert.ok(migration!.pauseMs! >= 0 && migration!.revision! > 0 && migration!.objects === 1);
  assert.deepEqual([endpoint, endpoints], [plane.status!.endpoint, plane.status!.endpoints]);
  assert.equal(
    findCondition(conditions, 'Ready')!.lastTransitionTime,
    findCondition(plane.status!.conditions, 'Ready')!.lastTransitionTime,
  );
  await untilReason(client, name, 'Reached', 'ModeReached');
  assert.deepEqual([migrations.tenant.serving, migrations.dedicated.state().phase], ['Remote', 'Active']);
  const hosted = await client.get(HostedControlPlane, key);
  assert.equal(hosted.metadata.annotations!['hosted.hangar.dev/replica-of'], migration!.id);
  const recorded = await client.get(Namespace, { name: key.namespace });
  assert.equal(recorded.metadata.annotations!['controlplane.kplane.dev/mode'], 'Dedicated');

  await want(client, 'Virtual');
  const back = await untilMigrated(client, 'Virtual');
  assert.equal(back.status!.migration!.outcome, 'Switched');
  assert.notEqual(back.status!.migration!.id, migration!.id);
  assert.deepEqual([migrations.tenant.serving, back.status!.endpoint], ['Local', plane.status!.endpoint]);
  await untilGone(client, HostedControlPlane, name);
  assert.equal(migrations.tenant.store.entries.get('a')!.version, 1);
  assert.deepEqual((await client.get(Secret, reference)).data, secret.data);
  await until(client, ControlPlane, name, (one) => !findCondition(one?.status?.conditions, 'HostedControlPlaneReady'));
});

test('the mode set back before the switch aborts, and deletes the copy', async () => {
  await using the = await started();
  const { client, migrations } = the;
  migrations.isRefused = true;
  await want(client, 'Dedicated');
  const during = await until(client, ControlPlane, name, (one) =>
    /cannot be pulled/.test(one?.status?.migration?.message ?? ''),
  );
  assert.deepEqual([during!.status!.phase, during!.status!.migration!.step], ['Migrating', 'Provision']);
  assert.equal(findCondition(during!.status!.conditions, 'Ready')!.status, 'True');
  await client.get(HostedControlPlane, key);
  await want(client, 'Virtual');
  const { status } = await untilMigrated(client, 'Dedicated');
  assert.equal(status!.migration!.outcome, 'Aborted');
  assert.equal(await find(client, HostedControlPlane, key), undefined);
  assert.ok(migrations.tenant.isWritable);
});

test('a Conflict that persists is named in the status, until the action succeeds', async () => {
  await using the = await started();
  const { client, migrations } = the;
  migrations.deletionError = new CodedError('Conflict', 'the tenant receives data for another migration');
  await want(client, 'Dedicated');
  const failing = await until(client, ControlPlane, name, (one) =>
    /receives data for another/.test(one?.status?.migration?.message ?? ''),
  );
  const { message, completedAt } = failing!.status!.migration!;
  assert.equal(message, 'the last action failed, retrying: the tenant receives data for another migration');
  assert.equal(completedAt, undefined);
  migrations.deletionError = undefined;
  const { status } = await untilMigrated(client, 'Dedicated');
  assert.doesNotMatch(status!.migration!.message ?? '', /failed/);
});

test('a deletion waits until the migration is aborted', async () => {
  await using the = await started();
  const { client, migrations } = the;
  migrations.isRefused = true;
  await want(client, 'Dedicated');
  await until(client, HostedControlPlane, name, (one) => one !== undefined, key.namespace);
  await client.delete(ControlPlane, { name });
  await untilGone(client, ControlPlane, name);
  assert.deepEqual((await client.list(HostedControlPlane)).items, []);
  assert.deepEqual((await client.list(Tenant)).items, []);
});

test('data that was migrated to mode Dedicated is deleted with the tenant, and not retained', async () => {
  await using the = await started({ deletionPolicy: 'Retain' });
  const { client } = the;
  await want(client, 'Dedicated');
  await untilMigrated(client, 'Dedicated');
  await client.delete(ControlPlane, { name });
  await untilReason(client, name, 'RetainNotSupported');
  await client.patch(ControlPlane, { name }, { type: 'merge', body: { spec: { deletionPolicy: 'Destroy' } } });
  await untilGone(client, ControlPlane, name);
  assert.deepEqual((await client.list(HostedControlPlane)).items, []);
  assert.deepEqual((await client.list(Tenant)).items, []);
});

test('a registration for controllers is not needed while the control plane is dedicated', async () => {
  await using the = await started();
  const { client } = the;
  const spec = { controlPlaneRef: { name }, services: ['controllers'] };
  await client.create(ControlPlaneRegistration, { metadata: { name: 'kcm' }, spec });
  const untilReady = (isReady: boolean) =>
    until(client, ControlPlaneRegistration, 'kcm', (one) => one?.status?.ready === isReady);
  await untilReady(true);
  await want(client, 'Dedicated');
  const included = await untilReady(false);
  assert.equal(findCondition(included!.status!.conditions, 'Ready')!.reason, 'ServiceIncluded');
  assert.equal((await client.get(ControlPlane, { name })).status!.migration!.outcome, 'Switched');
  await untilMigrated(client, 'Dedicated');
  await want(client, 'Virtual');
  await untilReady(true);
});

const refusals: readonly [string, ControlPlaneSpec, string][] = [
  ['a version with another minor version', { dedicated: { version: 'v1.35.0' } }, 'VersionNotSupported'],
  [
    'parameters that do not exist',
    {
      dedicated: {
        parametersRef: { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'HostedControlPlaneTemplate', name: 'x' },
      },
    },
    'ParametersNotFound',
  ],
];

for (const [title, spec, reason] of refusals) {
  test(`${title}: no migration starts, and the control plane stays ready`, async () => {
    await using the = await started();
    const { client } = the;
    await client.patch(ControlPlane, { name }, { type: 'merge', body: { spec: { mode: 'Dedicated', ...spec } } });
    const { status } = await untilReason(client, name, reason, 'ModeReached');
    assert.deepEqual([status!.migration, status!.phase], [undefined, 'Ready']);
    assert.equal(findCondition(status!.conditions, 'Ready')!.status, 'True');
    assert.equal(await find(client, HostedControlPlane, key), undefined);
  });
}
