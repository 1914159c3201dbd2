/** Tenants that were restored from a backup: created by the server, without a claim, and adopted by the control plane that they name. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotations, ControlPlane } from '../api/index.ts';
import { Tenant } from '../host/index.ts';
import { startTestPlatform } from '../testing/platform.ts';
import { until, untilReady, untilReason } from '../testing/until.ts';
import { adoptByAnnotation } from './claim.ts';

test('a tenant that says who may adopt it is adopted once, by that control plane alone', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  const made = await client.create(Tenant, {
    metadata: { name: 'copy', annotations: { [adoptByAnnotation]: 'copy' } },
    spec: {},
  });
  await client.create(ControlPlane, { metadata: { name: 'thief' }, spec: { virtual: { clusterPath: 'copy' } } });
  await untilReason(client, 'thief', 'ClusterPathConflict', 'Accepted');
  const { metadata } = await client.create(ControlPlane, { metadata: { name: 'copy' }, spec: {} });
  await untilReady(client, 'copy');
  const adopted = await until(
    client,
    Tenant,
    'copy',
    (one) => one?.metadata.annotations?.[annotations.uid] === metadata.uid,
  );
  assert.equal(adopted?.metadata.uid, made.metadata.uid, 'it is the same tenant');
  assert.equal(adopted?.metadata.annotations?.[adoptByAnnotation], undefined);
});

test('a tenant that is asked for after it was refused is adopted then', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(Tenant, { metadata: { name: 'late' }, spec: {} });
  await client.create(ControlPlane, { metadata: { name: 'late' }, spec: {} });
  await untilReason(client, 'late', 'ClusterPathConflict', 'Accepted');
  const body = { metadata: { annotations: { [adoptByAnnotation]: 'late' } } };
  await client.patch(Tenant, { name: 'late' }, { type: 'merge', body });
  await untilReady(client, 'late');
});

test('a claim is worth more than a wish to be adopted', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  const claimed = { [annotations.uid]: 'of-another', [annotations.name]: 'another', [adoptByAnnotation]: 'shop' };
  const made = await client.create(Tenant, { metadata: { name: 'shop', annotations: claimed }, spec: {} });
  await client.create(ControlPlane, { metadata: { name: 'shop' }, spec: {} });
  await untilReason(client, 'shop', 'ClusterPathConflict', 'Accepted');
  assert.equal((await client.get(Tenant, { name: 'shop' })).metadata.resourceVersion, made.metadata.resourceVersion);
});
