import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { PersistentVolume, PersistentVolumeClaim, Pod } from '@hangar/client/kinds/core-v1';
import { VolumeAttributesClass } from '@hangar/client/kinds/storage-v1';
import { startTestFleet, virtualClock } from '@hangar/testkit';
import type { TestFleet, VirtualClock } from '@hangar/testkit';
import { runControllers } from '../testing/run-controllers.ts';
import type { RunningControllers } from '../testing/run-controllers.ts';
import { StorageProtectionController } from './controller.ts';

const namespace = 'default';

interface World extends AsyncDisposable {
  readonly clock: VirtualClock;
  readonly client: Client;
  start(): RunningControllers;
}

async function startWorld(): Promise<World> {
  const clock = virtualClock();
  const fleet: TestFleet = await startTestFleet({ clusters: 1, clock });
  return {
    clock,
    client: fleet.clientOf('cluster-0'),
    start: () => runControllers(fleet, { clock, controllers: () => [new StorageProtectionController()] }),
    [Symbol.asyncDispose]: () => fleet[Symbol.asyncDispose]() as Promise<void>,
  };
}

const claim = (name: string, more: object = {}): never =>
  ({
    metadata: { namespace, name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...more },
  }) as never;

const pod = (name: string, claimName: string, more: object = {}): never =>
  ({
    metadata: { namespace, name },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
      ...more,
    },
  }) as never;

const isThere = async (client: Client, name: string): Promise<boolean> =>
  (await find(client, PersistentVolumeClaim, { namespace, name })) !== undefined;

test('a claim that nobody uses goes when it is deleted', async () => {
  await using world = await startWorld();
  const { client, clock } = world;
  await using _ = world.start();
  await client.create(PersistentVolumeClaim, claim('a'));
  await client.delete(PersistentVolumeClaim, { namespace, name: 'a' });
  await clock.until(async () => !(await isThere(client, 'a')), { withinMs: 100 });
});

test('one that a pod on a node uses stays until that pod has gone', async () => {
  await using world = await startWorld();
  const { client, clock } = world;
  await using _ = world.start();
  await client.create(PersistentVolumeClaim, claim('a'));
  await client.create(Pod, pod('p', 'a', { nodeName: 'n' }));
  await client.create(Pod, pod('other', 'b', { nodeName: 'n' }));
  await client.delete(PersistentVolumeClaim, { namespace, name: 'a' });
  await clock.advance(600_000);
  assert.ok(await isThere(client, 'a'));
  await client.delete(Pod, { namespace, name: 'other' }, { gracePeriodSeconds: 0 });
  await clock.advance(600_000);
  assert.ok(await isThere(client, 'a'));
  await client.delete(Pod, { namespace, name: 'p' }, { gracePeriodSeconds: 0 });
  await clock.until(async () => !(await isThere(client, 'a')), { withinMs: 100 });
});

test('a pod that is on no node does not keep a claim', async () => {
  await using world = await startWorld();
  const { client, clock } = world;
  await using _ = world.start();
  await client.create(PersistentVolumeClaim, claim('a'));
  await client.create(Pod, pod('p', 'a'));
  await client.delete(PersistentVolumeClaim, { namespace, name: 'a' });
  await clock.until(async () => !(await isThere(client, 'a')), { withinMs: 100 });
});

test('what was deleted while no controller ran is found at its start; finalizers of others stay', async () => {
  await using world = await startWorld();
  const { client, clock } = world;
  await client.create(PersistentVolumeClaim, claim('a'));
  const keep = { metadata: { finalizers: ['example.com/keep', 'kubernetes.io/pvc-protection'] } };
  await client.create(PersistentVolumeClaim, claim('b'));
  await client.patch(PersistentVolumeClaim, { namespace, name: 'b' }, { type: 'merge', body: keep });
  for (const name of ['a', 'b']) await client.delete(PersistentVolumeClaim, { namespace, name });
  await using _ = world.start();
  await clock.until(async () => !(await isThere(client, 'a')));
  const { metadata } = await client.get(PersistentVolumeClaim, { namespace, name: 'b' });
  assert.deepEqual(metadata.finalizers, ['example.com/keep']);
});

test('a volume goes when it is not bound; a class when no claim names it', async () => {
  await using world = await startWorld();
  const { client, clock } = world;
  await using _ = world.start();
  const volume = (name: string): never =>
    ({
      metadata: { name },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp' } },
    }) as never;
  for (const name of ['same', 'bound']) await client.create(PersistentVolume, volume(name));
  const bound = { type: 'merge', body: { status: { phase: 'Bound' } } } as const;
  await client.status.patch(PersistentVolume, { name: 'bound' }, bound);
  await client.create(VolumeAttributesClass, {
    metadata: { name: 'same' },
    driverName: 'd.example.com',
    parameters: { a: 'b' },
  });
  await client.create(PersistentVolumeClaim, claim('a', { volumeAttributesClassName: 'same' }));
  for (const name of ['same', 'bound']) await client.delete(PersistentVolume, { name });
  await client.delete(VolumeAttributesClass, { name: 'same' });
  await clock.until(async () => (await find(client, PersistentVolume, { name: 'same' })) === undefined);
  await clock.advance(600_000);
  assert.ok(await find(client, PersistentVolume, { name: 'bound' }));
  assert.ok(await find(client, VolumeAttributesClass, { name: 'same' }));
  await client.delete(PersistentVolumeClaim, { namespace, name: 'a' });
  await clock.until(async () => (await find(client, VolumeAttributesClass, { name: 'same' })) === undefined);
  const free = { type: 'merge', body: { status: { phase: 'Released' } } } as const;
  await client.status.patch(PersistentVolume, { name: 'bound' }, free);
  await clock.until(async () => (await find(client, PersistentVolume, { name: 'bound' })) === undefined);
});
