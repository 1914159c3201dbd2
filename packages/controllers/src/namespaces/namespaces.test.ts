import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap, Namespace, Pod, Secret } from '@hangar/client/kinds/core-v1';
import type { NamespaceCondition } from '@hangar/client/kinds/core-v1';
import { APIService } from '@hangar/client/kinds/apiregistration-v1';
import { installCrd, startTestFleet } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import { eventually, runControllers } from '../testing/run-controllers.ts';
import { widgets, Widget } from '../testing/widgets.ts';
import { NamespaceController } from './controller.ts';

const only = {
  controllers: (world: ConstructorParameters<typeof NamespaceController>[0]) => [new NamespaceController(world)],
};
const make = (client: Client, name: string): Promise<Namespace> => client.create(Namespace, { metadata: { name } });
const fill = (client: Client, namespace: string, count: number, more: object = {}): Promise<unknown> =>
  Promise.all(
    Array.from({ length: count }, (_, at) =>
      client.create(ConfigMap, { metadata: { namespace, name: `m${at}`, ...more } }),
    ),
  );
const isGone = async (client: Client, name: string): Promise<boolean> =>
  (await find(client, Namespace, { name })) === undefined;
const condition = ({ status }: Namespace, type: string): NamespaceCondition | undefined =>
  status?.conditions?.find((one) => one.type === type);

async function fleetOf(...clusters: string[]): Promise<TestFleet> {
  return startTestFleet({ clusters });
}

describe('a namespace that is deleted', () => {
  test('goes with all that is in it, in its own control plane and nowhere else', async () => {
    await using fleet = await fleetOf('red', 'blue');
    const [red, blue] = [fleet.clientOf('red'), fleet.clientOf('blue')];
    await using controllers = runControllers(fleet, only);
    await controllers.synced;
    for (const client of [red, blue, fleet.client]) {
      await make(client, 'shop');
      await fill(client, 'shop', 5);
      await client.create(Secret, { metadata: { namespace: 'shop', name: 's' } });
    }
    await make(red, 'other');
    await fill(red, 'other', 2);
    await red.delete(Namespace, { name: 'shop' });
    await eventually(() => isGone(red, 'shop'));
    assert.equal((await red.list(ConfigMap, { namespace: 'shop' })).items.length, 0);
    assert.equal((await red.list(ConfigMap, { namespace: 'other' })).items.length, 2);
    for (const client of [blue, fleet.client]) {
      assert.equal((await client.list(ConfigMap, { namespace: 'shop' })).items.length, 5);
    }
    await fleet.client.delete(Namespace, { name: 'shop' });
    await eventually(() => isGone(fleet.client, 'shop'));
  });

  test('that was there before, half-way deleted, is gone after a start', async () => {
    await using fleet = await fleetOf('red');
    const red = fleet.clientOf('red');
    await make(red, 'shop');
    await fill(red, 'shop', 3);
    await red.delete(Namespace, { name: 'shop' });
    assert.ok(!(await isGone(red, 'shop')));
    await using controllers = runControllers(fleet, only);
    await controllers.synced;
    await eventually(() => isGone(red, 'shop'));
  });

  test('takes custom resources with it', async () => {
    await using fleet = await fleetOf('red');
    const red = fleet.clientOf('red');
    await using controllers = runControllers(fleet, only);
    await controllers.synced;
    await installCrd(red, widgets);
    await make(red, 'shop');
    await red.create(Widget, { metadata: { namespace: 'shop', name: 'w' } });
    await red.delete(Namespace, { name: 'shop' });
    await eventually(() => isGone(red, 'shop'));
    assert.equal((await red.list(Widget)).items.length, 0);
  });

  test('waits for finalizers, says so, and goes as soon as they do', async () => {
    await using fleet = await fleetOf('red');
    const red = fleet.clientOf('red');
    await using controllers = runControllers(fleet, only);
    await make(red, 'shop');
    await fill(red, 'shop', 2, { finalizers: ['example.com/hold'] });
    await red.create(Secret, { metadata: { namespace: 'shop', name: 's' } });
    await red.delete(Namespace, { name: 'shop' });
    const waiting = await eventually(async () => {
      const namespace = await red.get(Namespace, { name: 'shop' });
      return condition(namespace, 'NamespaceFinalizersRemaining')?.status === 'True' && namespace;
    });
    const texts = Object.fromEntries(
      waiting.status!.conditions!.map(({ type, status, reason, message }) => [type, `${status} ${reason}: ${message}`]),
    );
    assert.deepEqual(texts, {
      NamespaceDeletionDiscoveryFailure: 'False ResourcesDiscovered: All resources successfully discovered',
      NamespaceDeletionGroupVersionParsingFailure:
        'False ParsedGroupVersions: All legacy kube types successfully parsed',
      NamespaceDeletionContentFailure:
        'False ContentDeleted: All content successfully deleted, may be waiting on finalization',
      NamespaceContentRemaining:
        'True SomeResourcesRemain: Some resources are remaining: configmaps. has 2 resource instances',
      NamespaceFinalizersRemaining:
        'True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/hold in 2 resource instances',
    });
    assert.equal(waiting.status!.phase, 'Terminating');
    assert.equal(await find(red, Secret, { namespace: 'shop', name: 's' }), undefined, 'others do not wait');
    // No write without a change.
    await eventually(() => controllers.set.length <= 1);
    const { resourceVersion } = (await red.get(Namespace, { name: 'shop' })).metadata;
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal((await red.get(Namespace, { name: 'shop' })).metadata.resourceVersion, resourceVersion);
    const begunMs = performance.now();
    for (const name of ['m0', 'm1']) {
      await red.patch(
        ConfigMap,
        { namespace: 'shop', name },
        { type: 'merge', body: { metadata: { finalizers: null } } },
      );
    }
    await eventually(() => isGone(red, 'shop'));
    assert.ok(performance.now() - begunMs < 6_000, 'by an event, not by looking every few seconds');
  });

  test('waits for pods before anything else goes', async () => {
    await using fleet = await fleetOf('red');
    const red = fleet.clientOf('red');
    await using controllers = runControllers(fleet, only);
    await controllers.synced;
    await make(red, 'shop');
    await fill(red, 'shop', 1);
    await red.create(Pod, {
      metadata: { namespace: 'shop', name: 'p' },
      spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
    });
    await red.delete(Namespace, { name: 'shop' });
    const waiting = await eventually(async () => {
      const namespace = await red.get(Namespace, { name: 'shop' });
      return condition(namespace, 'NamespaceContentRemaining')?.status === 'True' && namespace;
    });
    assert.equal(
      condition(waiting, 'NamespaceContentRemaining')?.message,
      'Some resources are remaining: pods. has 1 resource instances',
    );
    assert.equal((await red.list(ConfigMap, { namespace: 'shop' })).items.length, 1);
    // Acts as the kubelet that stopped it.
    await red.delete(Pod, { namespace: 'shop', name: 'p' }, { gracePeriodSeconds: 0 });
    await eventually(() => isGone(red, 'shop'));
  });

  test('keeps finalizers that others have put on it', async () => {
    await using fleet = await fleetOf('red');
    const red = fleet.clientOf('red');
    await using controllers = runControllers(fleet, only);
    await controllers.synced;
    await red.create(Namespace, { metadata: { name: 'shop', finalizers: ['example.com/keep'] } });
    await fill(red, 'shop', 1);
    await red.delete(Namespace, { name: 'shop' });
    const left = await eventually(async () => {
      const namespace = await red.get(Namespace, { name: 'shop' });
      return (namespace.spec?.finalizers ?? []).length === 0 && namespace;
    });
    assert.deepEqual(left.metadata.finalizers, ['example.com/keep']);
    assert.equal((await red.list(ConfigMap, { namespace: 'shop' })).items.length, 0);
  });

  test('stays while an aggregated API cannot be asked, says which, and goes when that is no more', async () => {
    await using fleet = await fleetOf('red');
    const red = fleet.clientOf('red');
    await using controllers = runControllers(fleet, only);
    await controllers.synced;
    await red.create(APIService, {
      metadata: { name: 'v1.away.example.com' },
      spec: {
        group: 'away.example.com',
        version: 'v1',
        service: { namespace: 'default', name: 'away' },
        groupPriorityMinimum: 1_000,
        versionPriority: 10,
        insecureSkipTLSVerify: true,
      },
    });
    await make(red, 'shop');
    await fill(red, 'shop', 2);
    await red.delete(Namespace, { name: 'shop' });
    const failing = await eventually(async () => {
      const found = condition(await red.get(Namespace, { name: 'shop' }), 'NamespaceDeletionDiscoveryFailure');
      return found?.status === 'True' && found;
    });
    assert.equal(failing.reason, 'DiscoveryFailed');
    assert.equal(
      failing.message,
      'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: ' +
        'away.example.com/v1: stale GroupVersion discovery: away.example.com/v1',
    );
    assert.equal((await red.list(ConfigMap, { namespace: 'shop' })).items.length, 0, 'the rest goes all the same');
    await red.delete(APIService, { name: 'v1.away.example.com' });
    await eventually(() => isGone(red, 'shop'), { withinMs: 10_000 });
  });
});

describe('many', () => {
  test('a namespace of 1,000 objects on disk is gone within two seconds', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'hangar-namespaces-'));
    try {
      await using fleet = await startTestFleet({ clusters: ['red'], dataDir });
      const red = fleet.clientOf('red');
      await using controllers = runControllers(fleet, only);
      await controllers.synced;
      await make(red, 'shop');
      await fill(red, 'shop', 1_000);
      const begunWork = process.cpuUsage();
      await red.delete(Namespace, { name: 'shop' });
      await eventually(() => isGone(red, 'shop'), { withinMs: 30_000 });
      // CPU time is far less: wall time depends on other load of the machine.
      const { user, system } = process.cpuUsage(begunWork);
      assert.ok(user + system < 2_000_000, `it took ${(user + system) / 1_000} ms of work`);
    } finally {
      await rm(dataDir, { recursive: true });
    }
  });

  test('one that cannot be emptied keeps no other waiting', async () => {
    const names = Array.from({ length: 8 }, (_, at) => `c${at}`);
    await using fleet = await fleetOf(...names);
    await using controllers = runControllers(fleet, only);
    await controllers.synced;
    const stuck = fleet.clientOf('c0');
    for (let at = 0; at < 20; at++) {
      await make(stuck, `held-${at}`);
      await fill(stuck, `held-${at}`, 1, { finalizers: ['example.com/hold'] });
      await stuck.delete(Namespace, { name: `held-${at}` });
    }
    await Promise.all(
      names.map(async (name) => {
        const client = fleet.clientOf(name);
        await make(client, 'shop');
        await fill(client, 'shop', 3);
        await client.delete(Namespace, { name: 'shop' });
        await eventually(() => isGone(client, 'shop'));
      }),
    );
    assert.ok(!(await isGone(stuck, 'held-0')));
  });
});
