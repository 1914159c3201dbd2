/** Selection of the controllers that serve control planes: home controllers, and sets with `serves`. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@hangar/api';
import { ConfigMap, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { startTestFleet, Tenant } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import { remoteControllers } from './essential-set.ts';
import { controllersAnnotation, controllersByAnnotation } from './runner/roster.ts';
import { countedClients } from './testing/counted-clients.ts';
import { fleetKeys } from './testing/fleet-keys.ts';
import { Recorder } from './testing/recorder.ts';
import { eventually, runControllers } from './testing/run-controllers.ts';
import type { RunningControllers } from './testing/run-controllers.ts';

const add = (fleet: TestFleet, cluster: string, name: string): Promise<unknown> =>
  fleet.clientOf(cluster).create(ConfigMap, { metadata: { namespace: 'default', name } });
const change = (fleet: TestFleet, name: string, body: object): Promise<unknown> =>
  fleet.client.patch(Tenant, { name }, { type: 'merge', body });
const external = (value: string | null, by: string | null = null): object => ({
  metadata: { annotations: { [controllersAnnotation]: value, [controllersByAnnotation]: by } },
});
const suspended = (suspension: string | null): object => ({ spec: { suspension } });

/** Resolves when all earlier changes of the control plane were delivered. */
async function passed(fleet: TestFleet, recorder: Recorder, cluster: string, name: string): Promise<void> {
  await add(fleet, cluster, name);
  await eventually(() => recorder.told.includes(`put ${cluster}/${name}`));
}

describe('controllers that stay at home', () => {
  test('go on where others run the rest, and are not told that it has gone', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    const [home, roaming] = [new Recorder({ isHome: true }), new Recorder()];
    await using controllers = runControllers(fleet, { controllers: () => [home, roaming] });
    await controllers.synced;
    await change(fleet, 'red', external('External'));
    await eventually(() => roaming.told.includes('gone red'));
    await passed(fleet, home, 'red', 'meanwhile');
    await eventually(() => home.reconciled.includes('red/meanwhile'));
    assert.ok(!home.told.includes('gone red'));
    assert.ok(!roaming.told.includes('put red/meanwhile'));
    roaming.told.length = 0;
    await change(fleet, 'red', external(null));
    await eventually(() => roaming.told.includes('told red'));
    assert.deepEqual(roaming.told, ['cluster red', 'put red/meanwhile', 'told red']);
    await eventually(() => roaming.reconciled.includes('red/meanwhile'));
  });

  test('work from the beginning where others run the rest, but nowhere that is suspended', async () => {
    await using fleet = await startTestFleet({ clusters: ['red', 'blue'] });
    for (const cluster of ['red', 'blue']) {
      await add(fleet, cluster, 'before');
      await change(fleet, cluster, external('External'));
    }
    await change(fleet, 'blue', suspended('ReadOnly'));
    const [home, roaming] = [new Recorder({ isHome: true }), new Recorder()];
    await using controllers = runControllers(fleet, { controllers: () => [home, roaming] });
    await controllers.synced;
    await eventually(() => home.reconciled.includes('red/before'));
    assert.deepEqual(
      [...home.told, ...roaming.told].filter((one) => one.includes('blue/')),
      [],
    );
    assert.deepEqual(roaming.reconciled, []);
    home.told.length = 0;
    await change(fleet, 'blue', suspended(null));
    await eventually(() => home.told.includes('told blue'));
    assert.deepEqual(home.told, ['cluster blue', 'put blue/before', 'told blue']);
    assert.ok(!roaming.told.includes('told blue'));
    await change(fleet, 'red', suspended('ReadOnly'));
    await eventually(() => home.told.includes('gone red'));
  });
});

describe('a set that chooses', () => {
  test('is told of those that it serves, and of no others; not of the management plane', async () => {
    await using fleet = await startTestFleet({ clusters: ['red', 'blue'] });
    await fleet.client.create(ConfigMap, { metadata: { namespace: 'default', name: 'of-root' } });
    for (const cluster of ['red', 'blue']) await add(fleet, cluster, 'before');
    await change(fleet, 'red', external('External', 'mine'));
    const recorder = new Recorder();
    const seen: KubeObject[] = [];
    const serves = (_cluster: string, tenant: KubeObject): boolean => {
      seen.push(tenant);
      return tenant.metadata.annotations?.[controllersByAnnotation] === 'mine';
    };
    await using controllers = runControllers(fleet, { controllers: () => [recorder], serves });
    await controllers.synced;
    await eventually(() => recorder.reconciled.includes('red/before'));
    assert.deepEqual(recorder.told, ['cluster red', 'put red/before']);
    await change(fleet, 'blue', external('External', 'mine'));
    await eventually(() => recorder.told.includes('told blue'));
    assert.deepEqual(recorder.told.slice(2), ['cluster blue', 'put blue/before', 'told blue']);
    await change(fleet, 'red', external('External', 'theirs'));
    await eventually(() => recorder.told.includes('gone red'));
    await change(fleet, 'blue', suspended('ReadOnly'));
    await eventually(() => recorder.told.includes('gone blue'));
    for (const tenant of seen) assert.ok(JSON.stringify(tenant).length < 350, 'only what is needed is kept');
  });

  test('can choose anew without being told anything: what was missed meanwhile is told', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    const recorder = new Recorder();
    const own = new Set<string>();
    await using controllers = runControllers(fleet, {
      controllers: () => [recorder],
      serves: (cluster) => own.has(cluster),
    });
    await controllers.synced;
    await add(fleet, 'red', 'a');
    controllers.set.reconsider('red');
    controllers.set.reconsider('nobody');
    own.add('red');
    controllers.set.reconsider('red');
    await eventually(() => recorder.told.includes('told red'));
    assert.deepEqual(recorder.told, ['cluster red', 'put red/a', 'told red']);
    await eventually(() => recorder.reconciled.includes('red/a'));
    controllers.set.reconsider('red');
    assert.equal(recorder.told.length, 3, 'the same choice tells nothing');
    own.delete('red');
    controllers.set.reconsider('red');
    assert.deepEqual(recorder.told.slice(3), ['gone red']);
  });

  test('knows when nothing is under way any more where it does not serve', async () => {
    await using fleet = await startTestFleet({ clusters: ['red', 'blue'] });
    const recorder = new Recorder();
    const released = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<AbortSignal>();
    recorder.work = async ({ cluster }, { signal }) => {
      if (cluster !== 'red') return;
      begun.resolve(signal);
      await released.promise;
    };
    const own = new Set(['red', 'blue']);
    await using controllers = runControllers(fleet, {
      controllers: () => [recorder],
      serves: (cluster) => own.has(cluster),
    });
    await controllers.synced;
    for (const name of ['a', 'b', 'c', 'd']) await add(fleet, 'red', name);
    const signal = await begun.promise;
    own.delete('red');
    controllers.set.reconsider('red');
    assert.ok(signal.aborted);
    let isDrained = false;
    const drained = controllers.set.drained('red').then(() => (isDrained = true));
    await controllers.set.drained('blue');
    assert.ok(!isDrained);
    released.resolve();
    await drained;
    assert.equal(recorder.reconciled.filter((one) => one.startsWith('red/')).length, 2, 'what was queued is dropped');
  });

  test('is told anew of its control planes after the feed has begun anew', async () => {
    await using fleet = await startTestFleet({ clusters: ['red', 'blue'] });
    await add(fleet, 'red', 'a');
    await add(fleet, 'blue', 'a');
    const recorder = new Recorder();
    const feed = fleet.feed();
    let again: (() => void) | undefined;
    await using controllers = runControllers(fleet, {
      controllers: () => [recorder],
      serves: (cluster) => cluster === 'red',
      feed: {
        has: (cluster) => feed.has(cluster),
        retell: (cluster) => feed.retell(cluster),
        async follow(listener, signal) {
          for (let round = 0; !signal.aborted; round++) {
            if (round > 0) listener.reset();
            const ended = new AbortController();
            again = () => ended.abort();
            await feed.follow(listener, AbortSignal.any([signal, ended.signal]));
          }
        },
      },
    });
    await controllers.synced;
    recorder.told.length = 0;
    again!();
    await eventually(() => recorder.told.includes('put red/a'));
    assert.deepEqual(recorder.told, ['reset', 'cluster red', 'put red/a']);
  });
});

describe('the set that works from outside', () => {
  const servingCa = 'the CA';
  const run = (fleet: TestFleet): RunningControllers & { readonly requests: readonly string[] } => {
    const { clientOf, requests } = countedClients(fleet);
    const options = { keysOf: fleetKeys(fleet, servingCa).of, controllers: remoteControllers, serves: () => true };
    return Object.assign(runControllers(fleet, { ...options, clientOf }), { requests });
  };
  const asked = (requests: readonly string[]): string[] => [...new Set(requests.map((one) => one.split(' ')[0]!))];

  test('looks once whether control planes are born with accounts, and asks no other when they are', async () => {
    await using fleet = await startTestFleet({ clusters: 20, hasAccounts: true, servingCa });
    await using running = run(fleet);
    await running.synced;
    await eventually(() => running.requests.length >= 4 && running.set.length === 0);
    assert.deepEqual(asked(running.requests), ['cluster-0']);
    assert.deepEqual(new Set(running.requests.map((one) => one.split(' ')[1])), new Set(['GET']));
    await fleet.createCluster('late');
    await change(fleet, 'late', external('External'));
    await add(fleet, 'late', 'a');
    await eventually(() => running.set.length === 0);
    assert.deepEqual(asked(running.requests), ['cluster-0']);
  });

  test('gives control planes of a bare server what they lack, and asks nothing when they have it', async () => {
    await using fleet = await startTestFleet({ clusters: 5 });
    const hasAll = (cluster: string) => async (): Promise<void> => {
      const client = fleet.clientOf(cluster);
      assert.equal((await client.list(ServiceAccount)).items.length, 4);
      const maps = await client.list(ConfigMap, { fieldSelector: 'metadata.name=kube-root-ca.crt' });
      assert.equal(maps.items.length, 4);
    };
    {
      await using running = run(fleet);
      await running.synced;
      for (const cluster of fleet.clusters) await eventually(hasAll(cluster));
      await fleet.createCluster('late');
      await eventually(hasAll('late'));
      await eventually(() => running.set.length === 0);
    }
    await using running = run(fleet);
    await running.synced;
    await eventually(() => running.set.length === 0);
    assert.deepEqual(running.requests, []);
  });

  test('is not misled by a control plane that has deleted what it was born with', async () => {
    await using fleet = await startTestFleet({ clusters: 3, hasAccounts: true, servingCa });
    const first = fleet.clientOf('cluster-0');
    for (const namespace of ['default', 'kube-node-lease', 'kube-public', 'kube-system']) {
      await first.delete(ServiceAccount, { namespace, name: 'default' });
      await first.delete(ConfigMap, { namespace, name: 'kube-root-ca.crt' });
    }
    await using running = run(fleet);
    await running.synced;
    await eventually(async () => {
      assert.equal((await first.list(ServiceAccount)).items.length, 4);
      assert.equal((await first.list(ConfigMap, { namespace: 'default' })).items.length, 1);
    });
    await eventually(() => running.set.length === 0);
    const writes = running.requests.filter((one) => !one.includes(' GET '));
    assert.deepEqual(asked(writes), ['cluster-0']);
  });
});
