import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import type { Request } from '../controller/reconcile.ts';
import { Queue } from './queue.ts';
import type { QueueOptions } from './queue.ts';

const request = (name: string, cluster = 'a', namespace = 'default'): Request => ({ cluster, namespace, name });

function setUp(options: Partial<QueueOptions> = {}): { clock: Scheduler; queue: Queue; takeAll: () => string[] } {
  const clock = new Scheduler(seededRandom(1));
  const queue = new Queue({ name: 'test', clock, ...options });
  const takeAll = (): string[] => {
    const names: string[] = [];
    for (let taken = queue.tryTake(); taken; taken = queue.tryTake()) {
      names.push(taken.request.name);
      queue.done(taken.request);
    }
    return names;
  };
  return { clock, queue, takeAll };
}

describe('a request', () => {
  test('that is added often is taken once', () => {
    const { queue, takeAll } = setUp();
    for (let i = 0; i < 3; i++) queue.add(request('x'));
    assert.equal(queue.length, 1);
    assert.deepEqual(takeAll(), ['x']);
    assert.equal(queue.length, 0);
  });

  test('is told apart by cluster, namespace and name; an empty namespace is none', () => {
    const { queue } = setUp();
    queue.add({ cluster: 'a', namespace: 'n', name: 'x' });
    queue.add({ cluster: 'b', namespace: 'n', name: 'x' });
    queue.add({ cluster: 'a', namespace: 'm', name: 'x' });
    queue.add({ cluster: 'a', namespace: '', name: 'x' });
    queue.add({ cluster: 'a', name: 'x' });
    assert.equal(queue.length, 4);
  });

  test('is told apart from another whatever is in its name', () => {
    const { queue, takeAll } = setUp();
    const names = ['x\0y', '\0x\0y', '__proto__', 'constructor', ''];
    for (const name of names) queue.add({ cluster: 'a', name });
    queue.add({ cluster: 'a', namespace: 'x', name: 'y' });
    queue.add({ cluster: '__proto__', name: 'x' });
    assert.deepEqual(takeAll().sort(), [...names, 'x', 'y'].sort());
  });

  test('is never under way twice: what is added meanwhile is taken once, afterwards', () => {
    const { queue } = setUp();
    queue.add(request('x'));
    const taken = queue.tryTake();
    assert.ok(taken);
    queue.add(request('x'));
    queue.add(request('x'), { priority: 5 });
    assert.equal(queue.tryTake(), undefined);
    assert.equal(queue.length, 1);
    queue.done(taken.request);
    assert.equal(queue.tryTake()?.priority, 5);
    queue.done(taken.request);
    assert.equal(queue.tryTake(), undefined);
  });

  test('that becomes due while it is under way waits until it is done', async () => {
    const { clock, queue } = setUp();
    queue.add(request('x'));
    queue.tryTake();
    queue.add(request('x'), { afterMs: 100 });
    await clock.advance(200);
    assert.equal(queue.tryTake(), undefined);
    queue.done(request('x'));
    assert.equal(queue.tryTake()?.request.name, 'x');
  });

  test('that is done and was not taken is a defect', () => {
    const { queue } = setUp();
    queue.add(request('x'));
    assert.throws(() => queue.done(request('x')), { code: 'AssertionFailed' });
    assert.throws(() => queue.done(request('y')), { code: 'AssertionFailed' });
  });
});

describe('priorities', () => {
  test('go from high to low, whatever numbers they are', () => {
    const { queue, takeAll } = setUp();
    const priorities = [0, -100, 7, Infinity, 0.5, -1e9, NaN];
    for (const priority of priorities) queue.add(request(String(priority)), { priority });
    assert.deepEqual(takeAll(), ['Infinity', '7', '0.5', '0', 'NaN', '-100', '-1000000000']);
  });

  test('are raised by adding again, and never lowered', () => {
    const { queue, takeAll } = setUp();
    for (const name of ['x', 'y', 'z']) queue.add(request(name), { priority: -100 });
    queue.add(request('z'));
    queue.add(request('z'), { priority: -500 });
    assert.deepEqual(takeAll(), ['z', 'x', 'y']);
  });

  test('of what is delayed are kept', async () => {
    const { clock, queue } = setUp();
    queue.add(request('x'), { afterMs: 10, priority: 3 });
    queue.add(request('x'), { afterMs: 20, priority: 4 });
    await clock.advance(10);
    assert.equal(queue.tryTake()?.priority, 4);
  });
});

describe('a delay', () => {
  test('is made shorter by adding again, never longer', async () => {
    const { clock, queue, takeAll } = setUp();
    queue.add(request('x'), { afterMs: 100 });
    queue.add(request('x'), { afterMs: 200 });
    queue.add(request('y'), { afterMs: 100 });
    queue.add(request('y'), { afterMs: 50 });
    queue.add(request('z'), { afterMs: 100 });
    queue.add(request('z'));
    assert.equal(queue.length, 3);
    assert.deepEqual(takeAll(), ['z']);
    await clock.advance(50);
    assert.deepEqual(takeAll(), ['y']);
    await clock.advance(49);
    assert.deepEqual(takeAll(), []);
    await clock.advance(1);
    assert.deepEqual(takeAll(), ['x']);
  });

  test('of ten thousand requests needs one timer at a time, and none when all are gone', async () => {
    const clock = new Scheduler(seededRandom(1));
    const timers = { set: 0, live: 0 };
    const counting: Clock = {
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs(),
      soon: (callback) => clock.soon(callback),
      after(delayMs, callback) {
        timers.set++;
        timers.live++;
        let isLive = true;
        const end = (): void => {
          if (isLive) timers.live--;
          isLive = false;
        };
        const timer = clock.after(delayMs, () => (end(), callback()));
        return { cancel: () => (end(), timer.cancel()) };
      },
    };
    const { queue } = setUp({ clock: counting });
    for (let i = 0; i < 10_000; i++) {
      queue.add(request(`r${i}`, `c${i % 100}`), { afterMs: 1 + ((i * 7919) % 1000) });
      assert.ok(timers.live <= 1);
    }
    await clock.advance(500);
    let taken = 0;
    for (; queue.tryTake(); taken++);
    assert.equal(taken, 5_000);
    for (let i = 0; i < 100; i++) void queue.removeCluster(`c${i}`);
    assert.deepEqual([queue.length, timers.live], [0, 0]);
    assert.ok(timers.set < 700, `${timers.set} timers`);
  });

  test('that is no number, or none, is none', () => {
    const { queue, takeAll } = setUp();
    queue.add(request('x'), { afterMs: NaN });
    queue.add(request('y'), { afterMs: -5 });
    assert.deepEqual(takeAll(), ['x', 'y']);
  });
});

describe('back-off', () => {
  test('doubles with every failure from 5 ms up to 1000 s, and starts again from 5 ms when forgotten', async () => {
    const { clock, queue } = setUp({ rateLimit: { perCluster: false } });
    const waited: number[] = [];
    for (let failure = 0; failure < 20; failure++) {
      const begunMs = clock.monotonicMs();
      queue.add(request('x'), { rateLimited: true });
      assert.equal(queue.retriesOf(request('x')), failure + 1);
      const taken = await clock.run(queue.take());
      waited.push(clock.monotonicMs() - begunMs);
      queue.done(taken!.request);
    }
    assert.deepEqual(waited.slice(0, 4), [5, 10, 20, 40]);
    assert.deepEqual(waited.slice(-3), [655_360, 1_000_000, 1_000_000]);
    queue.forget(request('x'));
    assert.equal(queue.retriesOf(request('x')), 0);
  });

  test('of a request that is ready already only counts', () => {
    const { queue } = setUp();
    queue.add(request('x'));
    queue.add(request('x'), { rateLimited: true });
    assert.equal(queue.tryTake()?.request.name, 'x');
    assert.equal(queue.retriesOf(request('x')), 1);
  });
});

describe('a paused cluster', () => {
  test('gives nothing, also of what is added or due meanwhile, until it is resumed; others go on', async () => {
    const { clock, queue, takeAll } = setUp();
    queue.add(request('before'));
    queue.pause('a');
    queue.pause('a');
    queue.add(request('meanwhile'));
    queue.add(request('late'), { afterMs: 10 });
    queue.add(request('other', 'b'));
    await clock.advance(20);
    assert.deepEqual(takeAll(), ['other']);
    queue.resume('a');
    assert.deepEqual(takeAll(), ['before', 'meanwhile', 'late']);
  });

  test('is so before it has anything', () => {
    const { queue, takeAll } = setUp();
    queue.pause('a');
    queue.add(request('x'));
    assert.deepEqual(takeAll(), []);
    queue.resume('a');
    assert.deepEqual(takeAll(), ['x']);
  });
});

describe('a cluster that is removed', () => {
  test('loses what is ready, delayed, behind, and its failures; the promise waits for what is under way', async () => {
    const { clock, queue, takeAll } = setUp();
    queue.add(request('busy'));
    queue.tryTake();
    queue.add(request('busy'));
    queue.add(request('ready'));
    queue.add(request('delayed'), { afterMs: 10 });
    queue.add(request('failed'), { rateLimited: true });
    queue.add(request('other', 'b'));
    let isOver = false;
    const removed = queue.removeCluster('a').then(() => (isOver = true));
    assert.equal(queue.length, 1);
    assert.equal(queue.retriesOf(request('failed')), 0);
    queue.add(request('new'));
    await clock.advance(1_000);
    assert.deepEqual(takeAll(), ['other', 'new']);
    assert.equal(isOver, false);
    queue.done(request('busy'));
    await removed;
    assert.deepEqual(takeAll(), []);
  });

  test('is waited for only as far as it was under way then', async () => {
    const { queue } = setUp();
    queue.add(request('old'));
    queue.tryTake();
    const removed = Promise.all([queue.removeCluster('a'), queue.removeCluster('a')]);
    queue.add(request('new'));
    queue.tryTake();
    queue.done(request('old'));
    await removed;
    await queue.removeCluster('never heard of');
  });
});

describe('taking', () => {
  test('waits, first come first served, for what is added later', async () => {
    const { queue } = setUp();
    const first = queue.take();
    const second = queue.take();
    queue.add(request('x'));
    queue.add(request('y'));
    assert.equal((await first)?.request.name, 'x');
    assert.equal((await second)?.request.name, 'y');
  });

  test('is announced when nobody waits for it', async () => {
    let announced = 0;
    const { clock, queue } = setUp({ onReady: () => announced++ });
    queue.pause('b');
    queue.add(request('x', 'b'));
    assert.equal(announced, 0);
    queue.resume('b');
    assert.equal(announced, 1);
    queue.tryTake();
    const awaited = queue.take();
    queue.add(request('y'), { afterMs: 5 });
    await clock.run(awaited);
    assert.equal(announced, 1);
  });
});

describe('shutting down', () => {
  test('drops what waits and resolves when what was taken is done', async () => {
    const { queue } = setUp();
    queue.add(request('busy'));
    queue.tryTake();
    queue.add(request('busy'));
    queue.add(request('ready'));
    queue.add(request('delayed'), { afterMs: 10 });
    const waiting = queue.take();
    queue.done((await waiting)!.request);
    const waitingForMore = queue.take();
    let isOver = false;
    const over = queue.shutDown().then(() => (isOver = true));
    assert.equal(await waitingForMore, undefined);
    assert.equal(await queue.take(), undefined);
    queue.add(request('too late'));
    assert.equal(queue.length, 0);
    assert.equal(isOver, false);
    queue.done(request('busy'));
    await over;
    assert.equal(queue.tryTake(), undefined);
  });

  test('with a drain lets what is ready be done first, also what was added again, not what is paused', async () => {
    const { queue } = setUp();
    queue.add(request('busy'));
    queue.tryTake();
    queue.add(request('busy'));
    queue.add(request('ready'));
    queue.pause('b');
    queue.add(request('paused', 'b'));
    queue.add(request('later', 'c'));
    const order: string[] = [];
    const over = queue.shutDown({ drain: true }).then(() => order.push('over'));
    queue.pause('c');
    queue.done((await queue.take())!.request);
    const waiting = queue.take();
    queue.done(request('busy'));
    const again = await waiting;
    order.push(again!.request.name);
    queue.done(again!.request);
    await over;
    assert.deepEqual(order, ['busy', 'over']);
    assert.equal(await queue.take(), undefined);
  });

  test('of an empty queue is over at once', async () => {
    const { queue } = setUp();
    await queue.shutDown();
    await queue.shutDown({ drain: true });
  });
});

describe('what is kept', () => {
  test('is nothing of a cluster that has nothing queued, under way or failed', async () => {
    const { clock, queue } = setUp({ maxPerCluster: 1 });
    for (let i = 0; i < 1_000; i++) queue.add(request('x', `c${i}`), { afterMs: i % 2, priority: i % 3 });
    assert.equal(queue.clusterCount, 1_000);
    await clock.advance(10);
    const taken: Request[] = [];
    for (let one = queue.tryTake(); one; one = queue.tryTake()) taken.push(one.request);
    assert.equal(queue.clusterCount, 1_000);
    for (const one of taken) queue.done(one);
    assert.equal(queue.clusterCount, 0);
    queue.add(request('x'), { rateLimited: true });
    await clock.advance(10);
    queue.done(queue.tryTake()!.request);
    assert.equal(queue.clusterCount, 1, 'its failure is remembered');
    queue.forget(request('x'));
    assert.equal(queue.clusterCount, 0);
  });
});
