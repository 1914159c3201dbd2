import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import type { Client } from '@hangar/client';
import { sleep } from '@hangar/core';
import { RuntimeError } from '../errors.ts';
import { newController } from './new-controller.ts';
import { inNamespace } from './predicate.ts';
import type { Request } from './reconcile.ts';
import { bareCluster } from './testing/bare-cluster.ts';
import { isDrained, servedWorld } from './testing/served.ts';
import { triggered } from './testing/triggered.ts';

const namespace = 'default';
const own = { kind: ConfigMap, where: inNamespace(namespace) };
const configMap = (client: Client, name: string): Promise<unknown> =>
  client.create(ConfigMap, { metadata: { namespace, name } });
const replaced = (): RuntimeError => new RuntimeError('ClusterReplaced', 'another config');
const nameOf = ({ cluster, name }: Request): string => `${cluster}/${name}`;

describe('before its start', () => {
  test('a controller fills caches and queue, and reconciles nothing', async () => {
    await using world = servedWorld();
    const { client, cluster } = await world.serve('a');
    const seen: string[] = [];
    const controller = newController({
      ...world,
      name: 'test',
      for: own,
      reconcile: (request) => void seen.push(nameOf(request)),
    });
    const stop = new AbortController();
    for (const name of ['x', 'y']) await configMap(client, name);
    controller.engage('a', cluster, stop.signal);
    await world.clock.advance(10_000);
    assert.deepEqual([seen, controller.queueLength], [[], 2]);
    const running = controller.start(stop.signal);
    await world.clock.settle();
    assert.deepEqual(seen, ['a/x', 'a/y']);
    stop.abort();
    await world.clock.run(running);
    await assert.rejects(controller.start(stop.signal), { code: 'InvalidOptions' });
  });
});

describe('a cluster whose cache is not filled', () => {
  test('is not dispatched, however long its server hangs; others are; after the time-out it is', async () => {
    await using world = servedWorld();
    const [hung, fine] = [await world.serve('hung'), await world.serve('fine')];
    const seen: string[] = [];
    const controller = newController({
      ...world,
      name: 'test',
      for: own,
      cacheSyncTimeoutMs: 30_000,
      reconcile: (request) => void seen.push(nameOf(request)),
    });
    const stop = new AbortController();
    const hold = hung.faults.hang();
    const running = controller.start(stop.signal);
    controller.engage('hung', hung.cluster, stop.signal);
    controller.engage('fine', fine.cluster, stop.signal);
    controller.trigger({ cluster: 'hung', namespace, name: 'h' });
    controller.trigger({ cluster: 'fine', namespace, name: 'f' });
    await world.clock.advance(1_000);
    assert.deepEqual(seen, ['fine/f']);
    await world.clock.advance(28_000);
    assert.deepEqual(seen, ['fine/f']);
    await world.clock.advance(2_000);
    assert.deepEqual(seen, ['fine/f', 'hung/h']);
    hold.release();
    stop.abort();
    await world.clock.run(running);
  });

  test('is dispatched as soon as it is', async () => {
    await using world = servedWorld();
    const { cluster, faults, client } = await world.serve('a');
    const seen: string[] = [];
    const controller = newController({
      ...world,
      name: 'test',
      for: own,
      reconcile: (request) => void seen.push(nameOf(request)),
    });
    const stop = new AbortController();
    const hold = faults.hang();
    await configMap(client, 'x');
    const running = controller.start(stop.signal);
    controller.engage('a', cluster, stop.signal);
    controller.trigger({ cluster: 'a', namespace, name: 'early' });
    await world.clock.advance(5_000);
    assert.deepEqual(seen, []);
    hold.release();
    await world.clock.settle();
    assert.deepEqual(seen, ['a/early', 'a/x']);
    stop.abort();
    await world.clock.run(running);
  });
});

describe('a cluster that is given up', () => {
  test('loses its requests and handlers at once; what is under way is told, and waited for', async () => {
    const seen: string[] = [];
    const signals: AbortSignal[] = [];
    await using the = await triggered({
      clusters: ['a', 'b'],
      reconcile: async (request, { signal }) => {
        seen.push(nameOf(request));
        signals.push(signal);
        if (request.cluster === 'a') await sleep(the.clock, 1_000);
        return { requeueAfterMs: 10 };
      },
      concurrency: 2,
      maxPerCluster: 1,
    });
    const engagement = the.engage('c');
    await the.clock.settle();
    void the.start();
    the.controller.trigger({ cluster: 'c', name: '1' });
    the.controller.trigger({ cluster: 'a', name: '1' });
    await the.clock.settle();
    the.controller.trigger({ cluster: 'a', name: '2' });
    the.controller.trigger({ cluster: 'a', name: '3' }, { afterMs: 10 });
    assert.equal(await isDrained(engagement, the.clock), true);
    the.signals.get('a')!.abort();
    assert.equal(signals[1]!.aborted, true);
    assert.equal(signals[0]!.aborted, false);
    await the.clock.advance(5_000);
    assert.equal(seen.filter((one) => one.startsWith('a/')).length, 1);
    the.controller.trigger({ cluster: 'a', name: '4' });
    await the.clock.advance(10);
    assert.equal(the.metric('hangar_runtime_dropped_requests_total{controller="test",reason="ClusterNotFound"}'), 1);
    assert.deepEqual([...the.controller.engagedClusters()], ['b', 'c']);
    assert.equal(the.metric('hangar_runtime_engaged_clusters{controller="test"}'), 2);
  });

  test('is drained only when also what is stuck has ended', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await using the = await triggered({
      clusters: [],
      reconcileTimeoutMs: 100,
      reconcileGraceMs: 100,
      reconcile: () => promise,
    });
    const engagement = the.engage('a');
    await the.clock.settle();
    void the.start();
    the.controller.trigger({ cluster: 'a', name: 'x' });
    await the.clock.advance(1_000);
    the.signals.get('a')!.abort();
    assert.equal(await isDrained(engagement, the.clock), false);
    resolve();
    assert.equal(await isDrained(engagement, the.clock), true);
  });

  test('and engaged again begins anew; what is still under way of before is never doubled', async () => {
    const running = new Set<string>();
    const { promise, resolve } = Promise.withResolvers<void>();
    let [runs, isDoubled] = [0, false];
    await using the = await triggered({
      concurrency: 4,
      reconcile: async (request) => {
        isDoubled ||= running.has(request.name);
        running.add(request.name);
        if (++runs === 1) await promise;
        running.delete(request.name);
      },
    });
    void the.start();
    the.trigger('x');
    await the.clock.settle();
    the.signals.get('a')!.abort();
    the.engage('a');
    the.trigger('x');
    await the.clock.advance(1_000);
    assert.equal(runs, 1);
    resolve();
    await the.clock.settle();
    assert.deepEqual([runs, isDoubled], [2, false]);
  });

  test('leaves nobody listening', async () => {
    await using world = servedWorld();
    const { cluster, client } = await world.serve('a');
    let reconciled = 0;
    const controller = newController({ ...world, name: 'test', for: own, reconcile: () => void reconciled++ });
    const stop = new AbortController();
    const running = controller.start(stop.signal);
    for (let i = 0; i < 5; i++) {
      const abort = new AbortController();
      controller.engage('a', cluster, abort.signal);
      await world.clock.advance(100);
      abort.abort();
      assert.equal(getEventListeners(abort.signal, 'abort').length, 0);
    }
    await configMap(client, 'x');
    await world.clock.advance(1_000);
    assert.equal(reconciled, 0);
    const last = new AbortController();
    controller.engage('a', cluster, last.signal);
    stop.abort();
    await world.clock.run(running);
    assert.equal(getEventListeners(last.signal, 'abort').length, 0, 'also of a controller that stopped');
    assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
  });
});

describe('a cluster that is replaced', () => {
  test('keeps what is queued, with its delays and failures, for the one after it', async () => {
    const seen: string[] = [];
    let isBroken = true;
    await using the = await triggered({
      reconcile: ({ name }) => {
        seen.push(name);
        if (isBroken && name === 'failing') throw new Error('no');
      },
    });
    void the.start();
    the.trigger('failing');
    the.controller.trigger({ cluster: 'a', name: 'delayed' }, { afterMs: 60_000 });
    await the.clock.advance(2_000);
    const failures = seen.length;
    the.signals.get('a')!.abort(replaced());
    the.trigger('ready');
    await the.clock.advance(30_000);
    assert.equal(seen.length, failures, 'nothing is dispatched meanwhile');
    assert.equal(the.controller.queueLength, 3);
    isBroken = false;
    seen.length = 0;
    the.engage('a');
    await the.clock.settle();
    assert.deepEqual(seen, ['ready', 'failing']);
    await the.clock.advance(60_000);
    assert.deepEqual(seen, ['ready', 'failing', 'delayed']);
  });

  test('owes what was interrupted, and that was no failure', async () => {
    const clusters: unknown[] = [];
    await using the = await triggered({
      reconcile: async (_request, { cluster, signal }) => {
        clusters.push(cluster);
        if (clusters.length === 1) await sleep(the.clock, 60_000, signal);
      },
    });
    void the.start();
    the.trigger('x');
    await the.clock.settle();
    the.signals.get('a')!.abort(replaced());
    await the.clock.settle();
    the.engage('a');
    await the.clock.settle();
    assert.equal(clusters.length, 2);
    assert.notEqual(clusters[0], clusters[1]);
    assert.equal(the.metric('controller_runtime_reconcile_errors_total{controller="test"}'), 0);
  });

  test('drops all that when it is abandoned after all; an abandoned one of before does no harm', async () => {
    const seen: string[] = [];
    await using the = await triggered({ clusters: [], reconcile: ({ name }) => void seen.push(name) });
    const first = the.engage('a');
    await the.clock.settle();
    void the.start();
    the.signals.get('a')!.abort(replaced());
    the.controller.trigger({ cluster: 'a', name: 'x' });
    first.abandon!();
    assert.equal(the.controller.queueLength, 0);
    the.engage('a');
    the.controller.trigger({ cluster: 'a', name: 'y' });
    first.abandon!();
    await the.clock.settle();
    assert.deepEqual(seen, ['y']);
  });

  test('is told of what was deleted between the two', async () => {
    await using world = servedWorld();
    const before = await world.serve('a');
    const seen: string[] = [];
    const controller = newController({
      ...world,
      name: 'test',
      for: own,
      reconcile: ({ name }) => void seen.push(name),
    });
    const stop = new AbortController();
    const running = controller.start(stop.signal);
    for (const name of ['stays', 'goes']) await configMap(before.client, name);
    const first = new AbortController();
    controller.engage('a', before.cluster, first.signal);
    await world.clock.advance(1_000);
    assert.deepEqual(seen.splice(0).sort(), ['goes', 'stays']);
    first.abort(replaced());
    before.caches.abort();
    await before.client.delete(ConfigMap, { namespace, name: 'goes' });
    await world.clock.advance(1_000);
    // An engagement in between that never syncs.
    const second = new AbortController();
    const hung = world.serveAgain(before);
    const hold = hung.faults.hang();
    controller.engage('a', hung.cluster, second.signal);
    await world.clock.advance(1_000);
    second.abort(replaced());
    const after = world.serveAgain(before);
    controller.engage('a', after.cluster, stop.signal);
    await world.clock.advance(1_000);
    assert.deepEqual(seen.sort(), ['goes', 'stays']);
    hold.release();
    stop.abort();
    await world.clock.run(running);
  });
});

describe('the right to a cluster', () => {
  test('is checked at every dispatch; without it a request waits', async () => {
    let isOwned = false;
    let checks = 0;
    let runs = 0;
    await using the = await triggered({ clusters: [], reconcile: () => void runs++ });
    the.engage('a', {
      ownership: {
        check() {
          checks++;
          if (!isOwned) throw new RuntimeError('Fenced', 'not yours');
        },
      },
    });
    await the.clock.settle();
    void the.start();
    the.controller.trigger({ cluster: 'a', name: 'x' });
    await the.clock.advance(1_000);
    assert.equal(runs, 0);
    assert.ok(checks > 1);
    isOwned = true;
    await the.clock.advance(2_000);
    assert.equal(runs, 1);
  });

  test('that cannot be proven for a moment delays what is queued for that moment, however much it is, and nobody else', async () => {
    let isOwned = false;
    const order: string[] = [];
    await using the = await triggered({
      clusters: [],
      reconcile: ({ cluster, name }) => void order.push(cluster + name),
    });
    the.engage('a', {
      ownership: {
        check() {
          if (!isOwned) throw new RuntimeError('Fenced', 'not yours');
        },
      },
    });
    the.engage('b');
    await the.clock.settle();
    void the.start();
    const names = Array.from({ length: 5_000 }, (_, at) => `${at}`);
    for (const name of names) the.controller.trigger({ cluster: 'a', name });
    the.controller.trigger({ cluster: 'b', name: '' });
    await the.clock.advance(3_000);
    assert.deepEqual(order, ['b']);
    isOwned = true;
    await the.clock.advance(1_000);
    assert.deepEqual(new Set(order.slice(1)), new Set(names.map((name) => `a${name}`)));
    assert.equal(order.length, 1 + names.length);
  });

  test('that is not proven before another engagement of the cluster begins is that one’s', async () => {
    const seen: string[] = [];
    await using the = await triggered({ clusters: [], reconcile: ({ name }) => void seen.push(name) });
    const never = {
      check(): never {
        throw new RuntimeError('Fenced', 'not yours');
      },
    };
    the.engage('a', { ownership: never });
    await the.clock.settle();
    void the.start();
    the.controller.trigger({ cluster: 'a', name: 'x' });
    await the.clock.advance(100);
    the.signals.get('a')!.abort(new RuntimeError('ClusterReplaced', 'another config'));
    await the.clock.advance(5_000);
    assert.deepEqual(seen, []);
    the.engage('a');
    await the.clock.advance(1);
    assert.deepEqual(seen, ['x']);
  });
});

describe('which clusters', () => {
  test('a filter decides, also one that throws; the local one is not asked about', async () => {
    await using the = await triggered({
      clusters: [],
      clusterFilter: (name) => {
        if (name === 'bad') throw new Error('no');
        return name.startsWith('prod');
      },
      reconcile: () => {},
    });
    for (const name of ['prod-1', 'dev', 'bad', '']) the.engage(name);
    assert.deepEqual([...the.controller.engagedClusters()], ['prod-1', '']);
  });

  test('none of a provider where that is asked; the local one as asked, else where there is no provider', async () => {
    for (const [engageLocal, hasProvider, isEngaged] of [
      [undefined, false, true],
      [undefined, true, false],
      [true, true, true],
      [false, false, false],
    ] as const) {
      await using the = await triggered({
        clusters: [],
        engageProviderClusters: false,
        ...(engageLocal === undefined ? {} : { engageLocal }),
        reconcile: () => {},
      });
      the.engage('a');
      the.controller.engageLocal(bareCluster('', the.clock), the.stop.signal, { hasProvider });
      assert.deepEqual([...the.controller.engagedClusters()], isEngaged ? [''] : []);
    }
  });
});

describe('stopping', () => {
  test('tells what is under way, waits for it, and takes nothing more', async () => {
    const seen: string[] = [];
    let hasEnded = false;
    await using the = await triggered({
      reconcile: async ({ name }, { signal }) => {
        seen.push(name);
        await sleep(the.clock, 60_000, signal).catch(() => {});
        await sleep(the.clock, 100);
        return { requeueAfterMs: 1 };
      },
    });
    const running = the.start().then(() => (hasEnded = true));
    the.trigger('x', 'y');
    await the.clock.settle();
    the.stop.abort();
    await the.clock.advance(50);
    assert.equal(hasEnded, false);
    await the.clock.advance(60);
    await running;
    await the.clock.advance(10_000);
    assert.deepEqual(seen, ['x']);
    assert.equal(the.controller.queueLength, 0);
    assert.equal(await isDrained(the.engage('late'), the.clock), true);
    assert.deepEqual([...the.controller.engagedClusters()], []);
  });

  test('by a signal that has fired already is over at once', async () => {
    await using the = await triggered({ reconcile: () => assert.fail('not to be called') });
    the.trigger('x');
    the.stop.abort();
    await the.start();
  });
});
