import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineKind } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap, Namespace, PersistentVolumeClaim, Pod, ResourceQuota, Service } from '@hangar/client/kinds/core-v1';
import { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { installCrd, startTestFleet, virtualClock } from '@hangar/testkit';
import type { TestFleet, VirtualClock } from '@hangar/testkit';
import { runControllers } from '../testing/run-controllers.ts';
import type { RunningControllers } from '../testing/run-controllers.ts';
import { ResourceQuotaController } from './controller.ts';

const namespace = 'shop';
const key = { namespace, name: 'q' };

interface World extends AsyncDisposable {
  readonly clock: VirtualClock;
  readonly fleet: TestFleet;
  readonly client: Client;
  startController(clientOf?: (cluster: string) => Client): Promise<RunningControllers>;
}

async function startWorld(): Promise<World> {
  const clock = virtualClock();
  const fleet = await startTestFleet({ clusters: 1, clock });
  const client = fleet.clientOf('cluster-0');
  await client.create(Namespace, { metadata: { name: namespace } });
  return {
    clock,
    fleet,
    client,
    async startController(clientOf) {
      const running = runControllers(fleet, {
        clock,
        controllers: (world) => [new ResourceQuotaController(world)],
        ...(clientOf ? { clientOf } : {}),
      });
      await clock.run(running.synced);
      return running;
    },
    [Symbol.asyncDispose]: () => fleet[Symbol.asyncDispose]() as Promise<void>,
  };
}

const limit = (client: Client, hard: Record<string, string>, spec: object = {}): Promise<unknown> =>
  client.create(ResourceQuota, { metadata: key, spec: { hard, ...spec } });

const statusOf = async (client: Client): Promise<ResourceQuota['status']> =>
  (await client.get(ResourceQuota, key)).status;

/** Waits until the status has this usage. */
async function untilUsed({ clock, client }: World, used: Record<string, string>, withinMs = 10_000): Promise<void> {
  let last: unknown;
  await clock
    .until(
      async () => {
        last = (await statusOf(client))?.used;
        return JSON.stringify(sorted(last)) === JSON.stringify(sorted(used));
      },
      { withinMs },
    )
    .catch(() => assert.deepEqual(last, used));
}

const sorted = (list: unknown): unknown[] => Object.entries(list ?? {}).toSorted();

const configMap = (name: string): { metadata: object } => ({ metadata: { namespace, name } });

const pod = (name: string): { metadata: object; spec: object } => ({
  metadata: { namespace, name },
  spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '500m' }, limits: { cpu: '1' } } }] },
});

test('status.hard follows the spec, and what is there is counted', async () => {
  await using world = await startWorld();
  const { client, clock } = world;
  for (const name of ['a', 'b']) await client.create(ConfigMap, configMap(name));
  await using _ = await world.startController();
  await limit(client, { configmaps: '5', 'count/secrets': '1' });
  await untilUsed(world, { configmaps: '2', 'count/secrets': '0' }, 100);
  assert.deepEqual((await statusOf(client))?.hard, { configmaps: '5', 'count/secrets': '1' });
  await client.patch(ResourceQuota, key, {
    type: 'merge',
    body: { spec: { hard: { configmaps: '9', 'count/secrets': null, services: '3' } } },
  });
  await untilUsed(world, { configmaps: '2', services: '0' }, 1_000);
  assert.deepEqual((await statusOf(client))?.hard, { configmaps: '9', services: '3' });
  await clock.settle();
});

test('what is deleted is given back at once, and there is room again', async () => {
  await using world = await startWorld();
  const { client, clock } = world;
  await using _ = await world.startController();
  await limit(client, { configmaps: '1' });
  await untilUsed(world, { configmaps: '0' });
  await client.create(ConfigMap, configMap('a'));
  await assert.rejects(client.create(ConfigMap, configMap('b')), { code: 'Forbidden' });
  await clock.advance(60_000);
  await client.delete(ConfigMap, { namespace, name: 'a' });
  await untilUsed(world, { configmaps: '0' }, 10);
  await client.create(ConfigMap, configMap('b'));
});

test('a pod that ends gives back what it asked for, but not its place', async () => {
  await using world = await startWorld();
  const { client } = world;
  await using _ = await world.startController();
  await limit(client, { pods: '5', 'count/pods': '5', 'requests.cpu': '2', 'limits.cpu': '4' });
  await untilUsed(world, { pods: '0', 'count/pods': '0', 'requests.cpu': '0', 'limits.cpu': '0' });
  await client.create(Pod, pod('p') as never);
  await untilUsed(world, { pods: '1', 'count/pods': '1', 'requests.cpu': '500m', 'limits.cpu': '1' });
  await client.status.patch(Pod, { namespace, name: 'p' }, { type: 'merge', body: { status: { phase: 'Succeeded' } } });
  await untilUsed(world, { pods: '0', 'count/pods': '1', 'requests.cpu': '0', 'limits.cpu': '0' });
});

test('a pod that does not end in time gives back what it asked for when its time is over, although nothing happens', async () => {
  await using world = await startWorld();
  const { client, clock } = world;
  await using _ = await world.startController();
  await limit(client, { pods: '5' });
  const stuck = pod('p');
  await client.create(Pod, {
    ...stuck,
    spec: { ...stuck.spec, nodeName: 'n', terminationGracePeriodSeconds: 40 },
  } as never);
  await client.delete(Pod, { namespace, name: 'p' });
  await clock.advance(20_000);
  await untilUsed(world, { pods: '1' });
  await untilUsed(world, { pods: '0' }, 90_000);
  assert.ok(await client.get(Pod, { namespace, name: 'p' }));
});

test('a service that becomes another type, and a claim that goes, are counted anew', async () => {
  await using world = await startWorld();
  const { client } = world;
  const gold = 'gold.storageclass.storage.k8s.io/requests.storage';
  await using _ = await world.startController();
  await limit(client, { 'services.nodeports': '5', services: '5', [gold]: '10Gi', 'requests.storage': '20Gi' });
  await untilUsed(world, { 'services.nodeports': '0', services: '0', [gold]: '0', 'requests.storage': '0' });
  await client.create(Service, {
    metadata: { namespace, name: 's' },
    spec: { type: 'NodePort', ports: [{ port: 80, targetPort: 80 }] },
  });
  const claim = (name: string, storageClassName: string): object => ({
    metadata: { namespace, name },
    spec: { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } },
  });
  await client.create(PersistentVolumeClaim, claim('a', 'gold') as never);
  await client.create(PersistentVolumeClaim, claim('b', 'iron') as never);
  await untilUsed(world, { 'services.nodeports': '1', services: '1', [gold]: '2Gi', 'requests.storage': '4Gi' });
  await client.patch(Service, { namespace, name: 's' }, { type: 'merge', body: { spec: { type: 'ClusterIP' } } });
  await client.patch(
    PersistentVolumeClaim,
    { namespace, name: 'a' },
    { type: 'merge', body: { metadata: { finalizers: null } } },
  );
  await client.delete(PersistentVolumeClaim, { namespace, name: 'a' });
  await untilUsed(world, { 'services.nodeports': '0', services: '1', [gold]: '0', 'requests.storage': '2Gi' });
});

test('only what is in scope is counted', async () => {
  await using world = await startWorld();
  const { client } = world;
  await client.create(Pod, pod('sized') as never);
  await client.create(Pod, { ...pod('best'), spec: { containers: [{ name: 'c', image: 'i' }] } } as never);
  await using _ = await world.startController();
  await limit(client, { pods: '5' }, { scopes: ['BestEffort'] });
  await untilUsed(world, { pods: '1' });
});

const Widget = defineKind({ apiVersion: 'example.com/v1', kind: 'Widget', plural: 'widgets', isNamespaced: true });
const widgets = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' as const } } }],
  },
};

test('custom resources are counted as soon as they are served; before, nobody knows; afterwards, what was known stays', async () => {
  await using world = await startWorld();
  const { client, clock } = world;
  await using _ = await world.startController();
  await limit(client, { 'count/widgets.example.com': '3', configmaps: '2' });
  await untilUsed(world, { configmaps: '0' });
  await clock.run(installCrd(client, widgets));
  await untilUsed(world, { configmaps: '0', 'count/widgets.example.com': '0' });
  for (const name of ['a', 'b', 'c']) await client.create(Widget, { metadata: { namespace, name } });
  await assert.rejects(client.create(Widget, { metadata: { namespace, name: 'd' } }), { code: 'Forbidden' });
  await client.delete(Widget, { namespace, name: 'a' });
  await untilUsed(world, { configmaps: '0', 'count/widgets.example.com': '2' });
  await client.delete(CustomResourceDefinition, { name: 'widgets.example.com' });
  await clock.advance(60_000);
  assert.ok('count/widgets.example.com' in (await statusOf(client))!.used!);
});

test('a charge for what was never stored is given back soon', async () => {
  await using world = await startWorld();
  const { client, clock } = world;
  await using _ = await world.startController();
  await limit(client, { configmaps: '5' });
  await untilUsed(world, { configmaps: '0' });
  await clock.advance(60_000);
  await client.status.patch(ResourceQuota, key, { type: 'merge', body: { status: { used: { configmaps: '4' } } } });
  await untilUsed(world, { configmaps: '0' }, 4_500);
});

test('what is charged but not stored yet is not given back by a count in between', async () => {
  await using world = await startWorld();
  const { client, clock } = world;
  for (const name of ['a', 'b']) await client.create(ConfigMap, configMap(name));
  await using _ = await world.startController();
  await limit(client, { configmaps: '3' });
  await untilUsed(world, { configmaps: '2' });
  await clock.advance(60_000);
  // Charges as admission does for an object that is not stored yet.
  await client.status.patch(ResourceQuota, key, { type: 'merge', body: { status: { used: { configmaps: '3' } } } });
  await client.delete(ConfigMap, { namespace, name: 'a' });
  await untilUsed(world, { configmaps: '2' }, 400);
  await clock.advance(500);
  assert.deepEqual((await statusOf(client))?.used, { configmaps: '2' });
  await untilUsed(world, { configmaps: '1' }, 5_000);
});

test('somebody who writes another status is corrected', async () => {
  await using world = await startWorld();
  const { client } = world;
  await using _ = await world.startController();
  await limit(client, { configmaps: '5' });
  await untilUsed(world, { configmaps: '0' });
  await client.status.patch(ResourceQuota, key, {
    type: 'merge',
    body: { status: { hard: { configmaps: '7' }, used: null } },
  });
  await untilUsed(world, { configmaps: '0' }, 1_000);
  assert.deepEqual((await statusOf(client))?.hard, { configmaps: '5' });
});

test('what happened while no controller ran is found at its start', async () => {
  await using world = await startWorld();
  const { client } = world;
  const first = await world.startController();
  await limit(client, { configmaps: '5' });
  await untilUsed(world, { configmaps: '0' });
  await client.create(ConfigMap, configMap('a'));
  await first.stop();
  await client.delete(ConfigMap, { namespace, name: 'a' });
  await using _ = await world.startController();
  await untilUsed(world, { configmaps: '0' }, 1_000);
});

test('once nothing happens, nothing is asked and nothing is written', async () => {
  await using world = await startWorld();
  const { client, clock, fleet } = world;
  let opened = 0;
  await using running = await world.startController((cluster) => {
    opened++;
    return fleet.clientOf(cluster);
  });
  await limit(client, { configmaps: '5' });
  await client.create(ConfigMap, configMap('a')).catch(() => {});
  await clock.advance(60_000);
  const [counts, { metadata }] = [opened, await client.get(ResourceQuota, key)];
  assert.ok(counts > 0);
  await clock.advance(3_600_000);
  assert.equal(opened, counts);
  assert.equal(running.set.length, 0);
  assert.equal((await client.get(ResourceQuota, key)).metadata.resourceVersion, metadata.resourceVersion);
});

test('changes of what is only counted ask nothing of the server; a burst of deletions is counted together', async () => {
  await using world = await startWorld();
  const { client, clock, fleet } = world;
  for (let at = 0; at < 50; at++) await client.create(ConfigMap, configMap(`c${at}`));
  let opened = 0;
  await using _ = await world.startController((cluster) => {
    opened++;
    return fleet.clientOf(cluster);
  });
  await limit(client, { configmaps: '100' });
  await untilUsed(world, { configmaps: '50' });
  await clock.advance(60_000);
  opened = 0;
  for (let at = 0; at < 50; at++) {
    await client.patch(ConfigMap, { namespace, name: 'c0' }, { type: 'merge', body: { data: { at: String(at) } } });
  }
  await clock.advance(60_000);
  assert.equal(opened, 0);
  await client.deleteCollection(ConfigMap, { namespace });
  await untilUsed(world, { configmaps: '0' });
  await clock.advance(60_000);
  assert.ok(opened <= 6, `counted ${opened} times`);
});

test('many that come and go at once: in the end the count is right', async () => {
  await using world = await startWorld();
  const { client, clock } = world;
  await using _ = await world.startController();
  await limit(client, { configmaps: '30' });
  await untilUsed(world, { configmaps: '0' });
  const names = Array.from({ length: 60 }, (_, at) => `c${at}`);
  await clock.run(
    Promise.all(
      names.map(async (name, at) => {
        const isThere = await client.create(ConfigMap, configMap(name)).then(
          () => true,
          () => false,
        );
        if (isThere && at % 2 === 0) await client.delete(ConfigMap, { namespace, name });
      }),
    ),
  );
  await clock.advance(10_000);
  const { items } = await client.list(ConfigMap, { namespace });
  assert.ok(items.length > 0);
  await untilUsed(world, { configmaps: String(items.length) }, 1_000);
});

test('a tenant that is deleted is forgotten', async () => {
  await using world = await startWorld();
  const { client, clock, fleet } = world;
  await using running = await world.startController();
  await limit(client, { configmaps: '5' });
  await untilUsed(world, { configmaps: '0' });
  await clock.run(fleet.deleteCluster('cluster-0'));
  await clock.advance(60_000);
  assert.equal(running.set.length, 0);
});
