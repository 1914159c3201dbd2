/** Dedicated control planes that are deleted with the policy Retain, and the control planes that adopt their data. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap, Namespace, Secret } from '@hangar/client/kinds/core-v1';
import { findCondition, isControlledBy } from '@hangar/runtime';
import { annotations, ControlPlane, retainedRecordName } from '../api/index.ts';
import type { ControlPlaneSpec } from '../api/index.ts';
import { until, untilGone, untilReady, untilReason } from '../testing/until.ts';
import { HostedControlPlane, stoppedAnnotation } from './hosted-control-plane.ts';
import { startDedicatedPlatform } from './testing/dedicated-platform.ts';

const key = { namespace: 'kplane-cp-big', name: 'big' };
const record = { namespace: 'kplane-system', name: retainedRecordName('big') };
const create = (client: Client, spec: ControlPlaneSpec = {}) =>
  client.create(ControlPlane, { metadata: { name: 'big' }, spec: { mode: 'Dedicated', ...spec } });

async function retained(client: Client): Promise<void> {
  await create(client);
  await untilReady(client, 'big');
  await client.delete(ControlPlane, { name: 'big' });
  await untilGone(client, ControlPlane, 'big');
}

test('a deleted control plane leaves its stopped HostedControlPlane, and the next one of its name adopts it', async () => {
  await using the = await startDedicatedPlatform();
  const { client } = the;
  the.platform.start();
  await create(client, { dedicated: { version: 'v1.35.0' } });
  const { status } = await untilReady(client, 'big');
  const before = await client.get(HostedControlPlane, key);
  const inside = await the.hosted.inside('big');
  await inside.create(ConfigMap, { metadata: { namespace: 'default', name: 'kept' } });
  await client.delete(ControlPlane, { name: 'big' });
  await untilGone(client, ControlPlane, 'big');

  const stopped = await client.get(HostedControlPlane, key);
  assert.equal(stopped.metadata.uid, before.metadata.uid);
  assert.deepEqual(stopped.metadata.ownerReferences ?? [], []);
  assert.equal(stopped.metadata.annotations![stoppedAnnotation], 'true');
  assert.deepEqual((await client.get(Namespace, { name: key.namespace })).metadata.ownerReferences ?? [], []);
  const { data } = await client.get(Secret, record);
  assert.equal(Buffer.from(data!['version']!, 'base64').toString(), 'v1.35.0');
  assert.equal(await find(client, Secret, status!.kubeconfigSecretRef!), undefined, 'credentials of users are deleted');
  await client.get(Secret, { namespace: key.namespace, name: 'big-kubeconfig' });

  const again = await create(client);
  await untilReady(client, 'big');
  const adopted = await client.get(HostedControlPlane, key);
  assert.equal(adopted.metadata.uid, before.metadata.uid);
  assert.ok(isControlledBy(adopted, again));
  assert.ok(isControlledBy(await client.get(Namespace, { name: key.namespace }), again));
  assert.equal(adopted.spec!.version, 'v1.35.0');
  assert.equal(adopted.metadata.annotations![stoppedAnnotation], undefined);
  assert.equal(adopted.metadata.annotations![annotations.retained], undefined);
  await untilGone(client, Secret, record.name);
  await (await the.hosted.inside('big')).get(ConfigMap, { namespace: 'default', name: 'kept' });

  await client.patch(ControlPlane, { name: 'big' }, { type: 'merge', body: { spec: { deletionPolicy: 'Destroy' } } });
  await client.delete(ControlPlane, { name: 'big' });
  await untilGone(client, ControlPlane, 'big');
  await untilGone(client, Namespace, key.namespace);
  assert.deepEqual((await client.list(HostedControlPlane)).items, []);
});

test('a virtual control plane of the name is refused while the data is retained', async () => {
  await using the = await startDedicatedPlatform();
  const { client } = the;
  the.platform.start();
  await retained(client);
  await client.create(ControlPlane, { metadata: { name: 'big' }, spec: {} });
  const refused = await untilReason(client, 'big', 'RetainedDataConflict', 'Programmed');
  assert.match(findCondition(refused.status!.conditions, 'Programmed')!.message, /hangar purge big/);
  await client.delete(ControlPlane, { name: 'big' });
  await untilGone(client, ControlPlane, 'big');
  assert.equal((await client.get(HostedControlPlane, key)).metadata.deletionTimestamp, undefined);
  await client.get(Secret, record);
});

test('a namespace that claims to hold retained data is not adopted without a record', async () => {
  await using the = await startDedicatedPlatform();
  const { client } = the;
  the.platform.start();
  const forged = { [annotations.mode]: 'Dedicated' };
  await client.create(Namespace, { metadata: { name: key.namespace, annotations: forged } });
  await create(client);
  await untilReason(client, 'big', 'NamespaceConflict', 'Programmed');
});

test('a record of another namespace of that name does not let it be adopted', async () => {
  await using the = await startDedicatedPlatform();
  const { client } = the;
  the.platform.start();
  await retained(client);
  await client.delete(HostedControlPlane, key);
  await until(client, HostedControlPlane, 'big', (one) => one === undefined, key.namespace);
  await client.delete(Namespace, { name: key.namespace });
  await untilGone(client, Namespace, key.namespace);
  const forged = { [annotations.mode]: 'Dedicated' };
  await client.create(Namespace, { metadata: { name: key.namespace, annotations: forged } });
  await create(client);
  await untilReason(client, 'big', 'NamespaceConflict', 'Programmed');
});
