import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { RestClient } from '@hangar/client';
import { chance, hasCode, pick, seededRandom } from '@hangar/core';
import { faultyTransport, isWatch, startTestFleet, virtualClock } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import { newCluster } from '../new-cluster.ts';
import type { CacheOptions } from './cache-options.ts';
import { kindOptions } from './cache-options.ts';
import { FleetCache } from './fleet-cache.ts';
import type { FleetCacheOptions } from './fleet-cache.ts';
import { Recorder } from './testing/recorder.ts';
import { ConfigMap, Namespace } from './testing/world.ts';
import type { ConfigMapObject } from './testing/world.ts';

const namespace = 'default';
const key = (name: string) => ({ namespace, name });

/** Another API server, which does not run, serves the cluster from now on. */
async function moveAway(fleet: TestFleet, cluster: string): Promise<void> {
  const target = `/apis/tenancy.hangar.dev/v1alpha1/tenants/${cluster}`;
  const spec = { server: 'https://127.0.0.1:1', ca: '-----BEGIN CERTIFICATE-----' };
  const headers = { 'content-type': 'application/json' };
  for (const operation of ['hold', 'remote']) {
    const body = Buffer.from(operation === 'remote' ? JSON.stringify({ spec }) : '');
    const { status } = await fleet.client.raw({ method: 'POST', target: `${target}/${operation}?id=m`, headers, body });
    assert.equal(status, 201);
  }
}

async function openFleet({
  clusters = ['east', 'west'],
  seed = 1,
  options = {} as CacheOptions,
  isElsewhere = undefined as FleetCacheOptions['isElsewhere'],
} = {}) {
  const clock = virtualClock({ seed });
  const fleet = await startTestFleet({ clusters, clock });
  const faults = faultyTransport(fleet.transportOf('*'), { clock });
  const client = new RestClient(faults, { clock, retry: false });
  const cache = new FleetCache({ client, clock, random: seededRandom(seed), options, isElsewhere });
  const controller = new AbortController();
  let running: Promise<void> | undefined;
  return {
    clock,
    fleet,
    faults,
    cache,
    controller,
    start: () => void (running = cache.start(controller.signal)),
    make: (cluster: string, name: string, data: Record<string, string> = {}) =>
      fleet.clientOf(cluster).create(ConfigMap, { metadata: key(name), data }),
    async [Symbol.asyncDispose]() {
      controller.abort();
      if (running) await clock.run(running);
      assert.equal(faults.openWatches, 0);
      await fleet[Symbol.asyncDispose]();
    },
  };
}

describe('a fleet’s cache', () => {
  test('has everything of all clusters by one watch, and tells each what is its own', async () => {
    await using the = await openFleet();
    await the.make('east', 'a');
    await the.make('west', 'b');
    const [east, west] = [the.cache.cluster('east'), the.cache.cluster('west')];
    const [seenEast, seenWest] = [new Recorder<ConfigMapObject>(), new Recorder<ConfigMapObject>()];
    const registration = east.informer(ConfigMap).addHandler(seenEast);
    west.informer(ConfigMap).addHandler(seenWest);
    await assert.rejects(east.get(ConfigMap, key('a')), { code: 'CacheNotStarted' });
    the.start();
    await the.clock.run(east.synced());
    assert.ok(registration.hasSynced);
    assert.deepEqual([seenEast.take(), seenWest.take()], [['*a'], ['*b']]);
    assert.equal(the.faults.requests.length, 1);
    await the.make('east', 'b');
    await the.fleet.clientOf('west').delete(ConfigMap, key('b'));
    await the.clock.settle();
    assert.deepEqual([seenEast.take(), seenWest.take()], [['+b'], ['-b']]);
    assert.equal((await east.get(ConfigMap, key('b'))).metadata.name, 'b');
    await assert.rejects(west.get(ConfigMap, key('b')), { code: 'NotFound' });
    assert.equal((await east.list(ConfigMap, { namespace })).items.length, 2);
    assert.equal((await west.list(ConfigMap, { namespace })).items.length, 0);
    assert.equal(east.informer(ConfigMap).get(key('a'))?.metadata.name, 'a');
    assert.equal([...east.informer(ConfigMap).all(namespace)].length, 2);
    assert.equal((await west.get(Namespace, { name: 'default' })).metadata.name, 'default');
    assert.deepEqual(east.informer(ConfigMap).health, { state: 'watching' });
  });

  test('objects are what the cluster itself answers: whose they are is not in them, nor in what is written', async () => {
    await using the = await openFleet();
    await the.make('east', 'a', { value: '1' });
    the.start();
    const client = the.fleet.clientOf('east');
    const cluster = newCluster({ name: 'east', client, cache: the.cache.cluster('east'), clock: the.clock });
    const ended = cluster.start(the.controller.signal);
    const object = await cluster.client.get(ConfigMap, key('a'));
    assert.deepEqual(object, await client.get(ConfigMap, key('a')));
    object.data!['value'] = '2';
    await cluster.client.update(ConfigMap, object, { fieldValidation: 'Strict' });
    await the.clock.settle();
    assert.equal((await cluster.client.get(ConfigMap, key('a'))).data!['value'], '2');
    the.controller.abort();
    await ended;
  });

  test('the last state of a cluster that another server serves is kept without events until its view is closed', async () => {
    await using the = await openFleet();
    await the.make('east', 'a');
    await the.make('west', 'b');
    const [east, west] = [the.cache.cluster('east'), the.cache.cluster('west')];
    const [seenEast, seenWest] = [new Recorder<ConfigMapObject>(), new Recorder<ConfigMapObject>()];
    east.informer(ConfigMap).addHandler(seenEast);
    west.informer(ConfigMap).addHandler(seenWest);
    the.start();
    await the.clock.run(east.synced());
    await the.clock.run(moveAway(the.fleet, 'east'));
    await the.make('west', 'c');
    await the.clock.settle();
    assert.deepEqual([seenEast.take(), seenWest.take()], [['*a'], ['*b', '+c']]);
    assert.ok(east.informer(ConfigMap).get(key('a')));
    east.close();
    assert.equal(the.cache.cluster('east').informer(ConfigMap).get(key('a')), undefined);
    assert.deepEqual(seenEast.take(), []);
  });

  for (const isElsewhere of [true, false]) {
    test(`a list without the objects of a cluster ${isElsewhere ? 'that moved keeps them' : 'deletes them'}`, async () => {
      const asked: string[] = [];
      await using the = await openFleet({
        isElsewhere: async (cluster) => {
          asked.push(cluster);
          return isElsewhere;
        },
      });
      await the.make('east', 'a');
      await the.make('west', 'b');
      const [east, seen] = [the.cache.cluster('east'), new Recorder<ConfigMapObject>()];
      east.informer(ConfigMap).addHandler(seen);
      the.start();
      await the.clock.run(east.synced());
      const hold = the.faults.hang();
      the.faults.cutWatches();
      await the.clock.run(moveAway(the.fleet, 'east'));
      const refreshed = the.cache.refreshed();
      hold.release();
      await the.clock.run(refreshed);
      assert.deepEqual(asked, ['east']);
      assert.deepEqual(seen.take(), isElsewhere ? ['*a'] : ['*a', '-a']);
    });
  }

  test('indexes are of all clusters, and each finds its own', async () => {
    await using the = await openFleet();
    await the.make('east', 'a', { value: '1' });
    await the.make('west', 'b', { value: '1' });
    the.start();
    const [east, west] = [the.cache.cluster('east'), the.cache.cluster('west')];
    for (const view of [east, west]) view.addIndex(ConfigMap, 'value', ({ data }) => [data?.['value'] ?? '']);
    const found = async (view: typeof east): Promise<unknown[]> =>
      (await view.list(ConfigMap, { index: { name: 'value', value: '1' } })).items.map(({ metadata }) => metadata.name);
    assert.deepEqual([await found(east), await found(west)], [['a'], ['b']]);
    assert.deepEqual([...the.cache.cluster('nobody').informer(ConfigMap).byIndex('value', '1')], []);
    assert.throws(() => [...the.cache.cluster('nobody').informer(ConfigMap).byIndex('no', '1')], {
      code: 'UnknownIndex',
    });
    assert.throws(() => west.addIndex(ConfigMap, 'value', () => []), { code: 'InvalidOptions' });
  });

  test('whatever things are called, and whatever a tenant says of itself, nothing is anybody else’s', async () => {
    const clusters = ['constructor', 'valueof', 'east'];
    await using the = await openFleet({ clusters });
    for (const cluster of clusters) {
      const client = the.fleet.clientOf(cluster);
      await the.clock.run(client.create(Namespace, { metadata: { name: 'constructor' } }));
      const lie = clusters.find((one) => one !== cluster)!;
      const metadata = {
        namespace: 'constructor',
        name: 'constructor',
        labels: { constructor: cluster },
        clusterName: lie,
      };
      const data = JSON.parse(`{"__proto__":"${cluster}","constructor":"${cluster}"}`);
      await the.clock.run(client.create(ConfigMap, { metadata, data } as never));
      const patch = { type: 'merge', body: { metadata: { clusterName: lie } } } as const;
      await the.clock.run(client.patch(ConfigMap, { namespace: 'constructor', name: 'constructor' }, patch));
    }
    the.start();
    the.cache.addIndex(ConfigMap, 'constructor', ({ data }) => Object.values(data ?? {}));
    for (const cluster of [...clusters, '__proto__', 'toString', '']) {
      const view = the.cache.cluster(cluster);
      const isOne = clusters.includes(cluster);
      const all = await the.clock.run(view.list(ConfigMap, { labelSelector: 'constructor' }));
      assert.deepEqual(
        all.items.map(({ metadata: { labels } }) => labels),
        isOne ? [{ constructor: cluster }] : [],
        cluster,
      );
      for (const value of clusters) {
        const found = (await view.list(ConfigMap, { index: { name: 'constructor', value } })).items;
        assert.equal(found.length, value === cluster ? 1 : 0, `${value} in ${cluster}`);
      }
      if (!isOne) continue;
      const { data } = await view.get(ConfigMap, { namespace: 'constructor', name: 'constructor' });
      assert.deepEqual(Object.entries(data!), [
        ['__proto__', cluster],
        ['constructor', cluster],
      ]);
      await assert.rejects(view.get(ConfigMap, { namespace: '__proto__', name: 'constructor' }), { code: 'NotFound' });
    }
  });

  test('a view that ends takes its handlers with it, and nobody else’s', async () => {
    await using the = await openFleet();
    the.start();
    const [one, other] = [the.cache.cluster('east'), the.cache.cluster('east')];
    const [seen, still] = [new Recorder<ConfigMapObject>(), new Recorder<ConfigMapObject>()];
    one.informer(ConfigMap).addHandler(seen);
    other.informer(ConfigMap).addHandler(still);
    const controller = new AbortController();
    const ended = one.start(controller.signal);
    await the.clock.run(one.synced());
    controller.abort();
    await ended;
    await the.make('east', 'a');
    await the.clock.settle();
    assert.deepEqual([seen.events, still.events], [[], ['+a']]);
    const late = one.informer(ConfigMap).addHandler(seen);
    await assert.rejects(late.synced(), { code: 'CacheNotSynced' });
    await the.clock.settle();
    assert.deepEqual(seen.events, []);
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
    other.close();
    other.close();
    await the.make('east', 'b');
    await the.clock.settle();
    assert.deepEqual(still.events, ['+a']);
  });

  test('a cluster that comes later is there, and one that goes is gone', async () => {
    await using the = await openFleet();
    the.start();
    const view = the.cache.cluster('new');
    const seen = new Recorder<ConfigMapObject>();
    view.informer(ConfigMap).addHandler(seen);
    await the.clock.run(view.synced());
    assert.deepEqual((await view.list(ConfigMap)).items, []);
    await the.clock.run(the.fleet.createCluster('new'));
    await the.make('new', 'a');
    await the.clock.until(() => seen.known.has('a'));
    await the.clock.run(the.fleet.deleteCluster('new'));
    await the.clock.until(() => !seen.known.has('a'));
    assert.deepEqual((await view.list(ConfigMap)).items, []);
  });

  test('keeps metadata alone, or a namespace, where it was told so', async () => {
    const options = {
      byKind: [kindOptions(ConfigMap, { metadataOnly: true, namespace: 'default' })],
    };
    await using the = await openFleet({ options });
    await the.make('east', 'a', { big: 'x' });
    the.start();
    const view = the.cache.cluster('east');
    const object = await view.get(ConfigMap, key('a'), { metadataOnly: true });
    assert.deepEqual(Object.keys(object).toSorted(), ['apiVersion', 'kind', 'metadata']);
    assert.equal((object.metadata as { clusterName?: string }).clusterName, undefined);
    await assert.rejects(view.list(ConfigMap, { metadataOnly: true }), { code: 'NotInCache' });
    await assert.rejects(view.get(ConfigMap, key('a')), { code: 'NotInCache' });
  });

  test('a client that is not one of all clusters is found out', async () => {
    await using the = await openFleet();
    await the.make('east', 'a');
    const cache = new FleetCache({ client: the.fleet.clientOf('east'), clock: the.clock });
    const controller = new AbortController();
    const ended = cache.start(controller.signal);
    await the.clock.until(() => cache.informer(ConfigMap).health.state === 'failing');
    assert.match(cache.informer(ConfigMap).health.lastError!.message, /without metadata\.clusterName/);
    controller.abort();
    await the.clock.run(ended);
  });

  test('whatever happens to its one connection, every cluster ends with what it has', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const random = seededRandom(seed);
      const clusters = ['east', 'west', 'north'];
      await using the = await openFleet({ clusters, seed, options: { watchList: chance(random, 0.5) } });
      const seen = clusters.map((name) => {
        const recorder = new Recorder<ConfigMapObject>();
        the.cache.cluster(name).informer(ConfigMap).addHandler(recorder);
        return { name, recorder };
      });
      the.start();
      const faults = [
        () => the.faults.cutWatches(),
        () => the.faults.endWatches(),
        () => the.faults.silenceWatches(),
        () => the.faults.expireWatches(1, 'event'),
        () => the.faults.failNext(2, isWatch),
        () => the.faults.heal(),
      ];
      for (let step = 0; step < 100; step++) {
        const client = the.fleet.clientOf(pick(random, clusters));
        const name = pick(random, ['a', 'b', 'c']);
        const body = { data: { value: `${step}` } };
        const write = pick(random, [
          () => client.create(ConfigMap, { metadata: key(name) }),
          () => client.patch(ConfigMap, key(name), { type: 'merge', body }),
          () => client.delete(ConfigMap, key(name)),
        ]);
        await the.clock.run(write() as Promise<unknown>).catch((error: unknown) => {
          if (!hasCode(error, 'AlreadyExists') && !hasCode(error, 'NotFound')) throw error;
        });
        if (chance(random, 0.2)) pick(random, faults)();
        if (chance(random, 0.5)) await the.clock.advance(random.below(3_000));
      }
      the.faults.heal();
      the.faults.cutWatches();
      await the.clock.advance(11 * 60_000);
      for (const { name, recorder } of seen) {
        const { items } = await the.clock.run(the.fleet.clientOf(name).list(ConfigMap, { namespace }));
        const expected = Object.fromEntries(items.map((object) => [object.metadata.name, object]));
        assert.deepEqual(Object.fromEntries(recorder.known), expected, `seed ${seed}, ${name}`);
      }
    }
  });
});
