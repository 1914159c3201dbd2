/** The design document's manifests, created and deleted in every order there is. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Namespace, Secret } from '@hangar/client/kinds/core-v1';
import { isConditionTrue } from '@hangar/runtime';
import { ControlPlane, ControlPlaneRegistration, labels } from '../api/index.ts';
import { Tenant } from '../host/index.ts';
import { examples, orders } from '../testing/examples.ts';
import { startTestPlatform } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { until, untilGone, untilReady } from '../testing/until.ts';

test('the four manifests become ready in any order, and go in any order', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  const all = [...orders(examples)];
  assert.equal(all.length, 24);
  for (const [at, order] of all.entries()) {
    for (const one of order) await one.create(client);
    await untilReady(client, 'example');
    await until(client, ControlPlaneRegistration, 'example', (one) =>
      isConditionTrue(one?.status?.conditions, 'Ready'),
    );
    // Another order than the one in which they came.
    for (const one of all[(at * 7 + 5) % all.length]!) await one.delete(client);
    for (const { kind, name } of examples) await untilGone(client, kind, name);
    await nothingIsLeft(platform);
  }
});

test('the four manifests together say what the design document says', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  for (const one of examples) await one.create(client);
  const { status } = await untilReady(client, 'example');
  assert.equal(status?.phase, 'Ready');
  assert.equal(status?.endpoint, 'https://shared.kplane.example/clusters/example/control-plane');
  assert.deepEqual(status?.endpoints, [
    { type: 'Internal', url: 'https://shared.kplane.example/clusters/example/control-plane' },
    { type: 'External', url: 'https://example.kplane.example' },
    { type: 'Join', url: 'https://example.join.kplane.example/clusters/example/control-plane' },
  ]);
  assert.deepEqual(status?.kubeconfigSecretRef, {
    name: 'controlplane-example-kubeconfig',
    namespace: 'kplane-cp-example',
  });
  const conditions = status!.conditions!.map(({ type, status: so, reason }) => `${type} ${so} ${reason}`);
  assert.deepEqual(conditions, [
    'Accepted True Reconciled',
    'Programmed True Reconciled',
    'Ready True Reconciled',
    'AddonsApplied True Applied',
  ]);
  const tenant = await client.get(Tenant, { name: 'example' });
  assert.deepEqual(tenant.spec?.hosts, ['example.kplane.example']);
  assert.equal(tenant.spec?.deletionPolicy, 'Retain');
});

async function nothingIsLeft({ client }: TestPlatform): Promise<void> {
  await untilGone(client, Namespace, 'kplane-cp-example');
  const [planes, tenants, secrets] = await Promise.all([
    client.list(ControlPlane),
    client.list(Tenant),
    client.list(Secret, { labelSelector: labels.name }),
  ]);
  assert.deepEqual([planes.items, tenants.items, secrets.items], [[], [], []]);
}
