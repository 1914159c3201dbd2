/** The end of a control plane when the world does not cooperate. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find } from '@hangar/client';
import { ConfigMap, Namespace, Secret } from '@hangar/client/kinds/core-v1';
import { findCondition, hasFinalizer } from '@hangar/runtime';
import {
  ControlPlane,
  ControlPlaneClass,
  ControlPlaneEndpoint,
  ControlPlaneRegistration,
  finalizer,
} from '../api/index.ts';
import { Tenant } from '../host/index.ts';
import { startTestPlatform } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { until, untilGone, untilReady, untilReason } from '../testing/until.ts';

async function ready({ client }: TestPlatform, name: string, spec: ControlPlane['spec'] = {}): Promise<void> {
  await client.create(ControlPlane, { metadata: { name }, spec });
  await untilReady(client, name);
}

test('while the host is away the finalizer stays and the status says why; when it is back everything goes', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await ready(platform, 'demo', { deletionPolicy: 'Destroy' });
  platform.host.isAway = true;
  await client.delete(ControlPlane, { name: 'demo' });
  const waiting = await untilReason(client, 'demo', 'DeletionDelayed');
  assert.equal(waiting.status?.phase, 'Deleting');
  assert.ok(hasFinalizer(waiting, finalizer));
  assert.match(findCondition(waiting.status?.conditions, 'Ready')!.message, /deletion failed, retrying/);
  await client.get(Tenant, { name: 'demo' });
  platform.host.isAway = false;
  await untilGone(client, ControlPlane, 'demo');
  assert.equal(await find(client, Tenant, { name: 'demo' }), undefined);
});

test('while the host is away a new control plane waits, with a reason', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await ready(platform, 'first');
  platform.host.isAway = true;
  await client.create(ControlPlane, { metadata: { name: 'second' }, spec: {} });
  await untilReason(client, 'second', 'HostUnavailable');
  platform.host.isAway = false;
  await untilReady(client, 'second');
});

test('what the class made for it goes with it, what somebody else made stays', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  const registration = { enabled: true, services: ['controllers'] };
  await client.create(ControlPlaneClass, { metadata: { name: 'gold' }, spec: { registration } });
  await client.create(ControlPlaneRegistration, {
    metadata: { name: 'by-hand' },
    spec: { controlPlaneRef: { name: 'demo' } },
  });
  await ready(platform, 'demo', { classRef: { name: 'gold' } });
  await until(client, ControlPlaneRegistration, 'demo', (one) => one !== undefined);
  await client.delete(ControlPlane, { name: 'demo' });
  await untilGone(client, ControlPlane, 'demo');
  await untilGone(client, ControlPlaneRegistration, 'demo');
  await untilGone(client, ControlPlaneEndpoint, 'demo');
  await untilGone(client, Namespace, 'kplane-cp-demo');
  await client.get(ControlPlaneRegistration, { name: 'by-hand' });
});

test('a class that is gone is still heard: its policy is on the tenant', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(ControlPlaneClass, { metadata: { name: 'gold' }, spec: { deletionPolicy: 'Destroy' } });
  await ready(platform, 'demo', { classRef: { name: 'gold' } });
  await platform.inside('demo').create(ConfigMap, { metadata: { namespace: 'default', name: 'mark' } });
  await client.delete(ControlPlaneClass, { name: 'gold' });
  await client.delete(ControlPlane, { name: 'demo' });
  await untilGone(client, ControlPlane, 'demo');
  await ready(platform, 'demo');
  assert.equal(await find(platform.inside('demo'), ConfigMap, { namespace: 'default', name: 'mark' }), undefined);
});

test('a control plane that is made and deleted at once leaves nothing', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  for (let round = 0; round < 10; round++) {
    const name = `cp-${round}`;
    await client.create(ControlPlane, { metadata: { name }, spec: { deletionPolicy: 'Destroy' } });
    for (let turn = 0; turn < round * 12; turn++) await new Promise((resolve) => setImmediate(resolve));
    await client.delete(ControlPlane, { name });
    await untilGone(client, ControlPlane, name);
    await untilGone(client, Namespace, `kplane-cp-${name}`);
  }
  await platform.quiet();
  assert.deepEqual((await client.list(Tenant)).items, []);
  assert.deepEqual((await client.list(ControlPlaneEndpoint)).items, []);
  assert.deepEqual((await client.list(Secret, { labelSelector: 'controlplane.kplane.dev/name' })).items, []);
});

test('the same name again at once, over and over, has all that it should have', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  for (let round = 0; round < 5; round++) {
    await ready(platform, 'demo', { deletionPolicy: 'Destroy' });
    const { items } = await client.list(Secret, { namespace: 'kplane-cp-demo' });
    assert.equal(items.length, 2);
    await client.delete(ControlPlane, { name: 'demo' });
    await untilGone(client, ControlPlane, 'demo');
  }
});
