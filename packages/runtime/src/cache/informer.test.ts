import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { isWatch } from '@hangar/testkit';
import type { Informer } from './contract.ts';
import { Recorder } from './testing/recorder.ts';
import { ConfigMap, openWorld } from './testing/world.ts';
import type { CacheTestWorld, ConfigMapObject } from './testing/world.ts';

async function followed(options: Parameters<typeof openWorld>[0] = {}) {
  const world = await openWorld(options);
  const informer = world.cache.informer(ConfigMap);
  const seen = new Recorder<ConfigMapObject>();
  informer.addHandler(seen);
  return { ...world, informer, seen };
}

const queryOf = (target: string): URLSearchParams => new URL(target, 'http://server').searchParams;
const watchesOf = ({ faults }: Pick<CacheTestWorld, 'faults'>): URLSearchParams[] =>
  faults.requests.filter(isWatch).map(({ target }) => queryOf(target));
const listsOf = ({ faults }: Pick<CacheTestWorld, 'faults'>): URLSearchParams[] =>
  faults.requests.filter((one) => !isWatch(one)).map(({ target }) => queryOf(target));
const dataOf = (informer: Informer<ConfigMapObject>, name: string): unknown =>
  informer.get({ namespace: 'default', name })?.data?.['value'];

describe('an informer', () => {
  test('tells what is there as initial, then every change, and has what the server has', async () => {
    await using the = await followed();
    await the.make('a');
    await the.make('b');
    assert.equal(the.informer.hasSynced, false);
    assert.equal(the.informer.health.state, 'waiting');
    the.start();
    await the.clock.run(the.informer.synced());
    assert.deepEqual(the.seen.take().toSorted(), ['*a', '*b']);
    assert.deepEqual(the.informer.health, { state: 'watching' });
    await the.change('a', '1');
    await the.remove('b');
    await the.make('c');
    await the.clock.settle();
    assert.deepEqual(the.seen.take(), ['~a', '-b', '+c']);
    assert.equal(dataOf(the.informer, 'a'), '1');
    assert.deepEqual([...the.informer.all('default')].map(({ metadata }) => metadata.name).toSorted(), ['a', 'c']);
    assert.deepEqual([...the.informer.all('elsewhere')], []);
  });

  test('asks once, by one watch that tells everything first', async () => {
    await using the = await followed();
    the.start();
    await the.clock.run(the.informer.synced());
    assert.equal(the.faults.requests.length, 1);
    assert.equal(watchesOf(the)[0]?.get('sendInitialEvents'), 'true');
    assert.equal(watchesOf(the)[0]?.get('allowWatchBookmarks'), 'true');
  });

  for (const how of ['cutWatches', 'endWatches'] as const) {
    test(`goes on where it was after ${how}, without a list`, async () => {
      await using the = await followed();
      await the.make('a');
      the.start();
      await the.clock.run(the.informer.synced());
      await the.change('a', '1');
      await the.clock.advance(20_000);
      the.faults.forget();
      the.faults[how]();
      await the.change('a', '2');
      await the.remove('a');
      await the.make('b');
      await the.clock.advance(2_000);
      assert.deepEqual(the.seen.take(), ['*a', '~a', '~a', '-a', '+b']);
      assert.deepEqual(listsOf(the), []);
      assert.equal(watchesOf(the).length, 1);
      assert.equal(watchesOf(the)[0]!.get('sendInitialEvents'), null);
      assert.notEqual(watchesOf(the)[0]!.get('resourceVersion'), null);
    });
  }

  for (const how of ['answer', 'event'] as const) {
    test(`lists again when its version is too old (as ${how}), and tells what it missed`, async () => {
      await using the = await followed();
      for (const name of ['changed', 'gone', 'other', 'same']) await the.make(name);
      the.start();
      await the.clock.run(the.informer.synced());
      await the.clock.advance(20_000);
      the.seen.take();
      const same = the.informer.get({ namespace: 'default', name: 'same' });
      the.faults.expireWatches(1, how);
      the.faults.endWatches();
      await the.change('changed', '1');
      await the.remove('gone');
      await the.remove('other');
      await the.make('other');
      await the.make('new');
      await the.clock.advance(3_000);
      const seen = the.seen.take();
      assert.deepEqual(seen.toSorted(), ['~changed', '-gone', '-other', '+other', '+new'].toSorted());
      assert.ok(seen.indexOf('-other') < seen.indexOf('+other'), 'another of the same name: first deleted, then added');
      assert.equal(the.informer.get({ namespace: 'default', name: 'same' }), same, 'what is the same stays the same');
      assert.equal(the.informer.health.state, 'watching');
    });
  }

  test('lists in pages where a server does not know WatchList', async () => {
    await using the = await followed();
    for (let n = 0; n < 1_203; n++) await the.make(`m${n}`);
    the.faults.refuseNext({ status: 422, reason: 'Invalid' }, Infinity, ({ target }) =>
      target.includes('sendInitialEvents'),
    );
    the.start();
    await the.clock.run(the.informer.synced());
    assert.equal(the.seen.take().length, 1_203);
    assert.deepEqual(
      listsOf(the).map((query) => [query.get('limit'), query.get('continue') !== null]),
      [
        ['500', false],
        ['500', true],
        ['500', true],
      ],
    );
    await the.make('later');
    await the.clock.settle();
    assert.deepEqual(the.seen.take(), ['+later']);
    the.faults.forget();
    the.faults.expireWatches(1);
    the.faults.cutWatches();
    await the.clock.advance(10_000);
    assert.equal(watchesOf(the).filter((query) => query.has('sendInitialEvents')).length, 0, 'it is not asked again');
    assert.equal(listsOf(the).length, 3);
  });

  test('takes everything at once when its pages expire under way', async () => {
    await using the = await followed({ options: { watchList: false } });
    for (let n = 0; n < 700; n++) await the.make(`m${n}`);
    the.faults.refuseNext({ status: 410, reason: 'Expired' }, 1, ({ target }) => target.includes('continue='));
    the.start();
    await the.clock.run(the.informer.synced());
    assert.equal(the.seen.take().length, 700);
    assert.deepEqual(
      listsOf(the).map((query) => query.get('limit')),
      ['500', '500', null],
    );
  });

  test('waits for a kind that nobody has defined, longer each time, and finds it', async () => {
    await using the = await followed();
    the.faults.refuseNext({ status: 404, reason: 'NotFound', message: 'no such thing' }, Infinity);
    the.start();
    const attempts: number[] = [];
    for (let seconds = 0; seconds < 600; seconds++) {
      const before = the.faults.requests.length;
      await the.clock.advance(1_000);
      if (the.faults.requests.length > before) attempts.push(seconds);
    }
    assert.ok(attempts.length >= 20 && attempts.length <= 45, `${attempts.length} attempts in ten minutes`);
    assert.ok(attempts.at(-1)! - attempts.at(-2)! <= 31);
    assert.equal(the.informer.health.state, 'failing');
    assert.equal(the.informer.health.lastError?.message, 'no such thing');
    assert.equal(the.lines.length, 1, 'and says so once');
    await assert.rejects(the.clock.run(the.cache.get(ConfigMap, { namespace: 'default', name: 'a' })), {
      code: 'CacheNotSynced',
      message: /no such thing/,
    });
    the.faults.heal();
    await the.clock.run(the.informer.synced());
    assert.deepEqual(the.informer.health, { state: 'watching' });
  });

  test('never asks in a hot loop, whatever a server does', async () => {
    const refusals = [
      { status: 403 },
      { status: 410, reason: 'Expired' },
      { status: 500 },
      { status: 503 },
      { status: 504 },
      { status: 400 },
      { status: 418 },
      { status: 200 },
    ];
    for (const refusal of refusals) {
      await using the = await followed();
      the.start();
      await the.clock.run(the.informer.synced());
      the.faults.forget();
      the.faults.refuseNext(refusal, Infinity);
      the.faults.endWatches();
      await the.clock.advance(10 * 60_000);
      const count = the.faults.requests.length;
      assert.ok(count >= 15 && count <= 90, `${refusal.status}: ${count} requests in ten minutes`);
    }
  });

  test('a server that ends every watch at once is asked ever more slowly, and still followed', async () => {
    await using the = await followed();
    the.start();
    await the.clock.run(the.informer.synced());
    the.faults.forget();
    for (let n = 0; n < 600; n++) {
      the.faults.endWatches();
      await the.clock.advance(100);
    }
    assert.ok(the.faults.requests.length >= 5);
    assert.ok(getEventListeners(the.controller.signal, 'abort').length <= 3, 'those who listened have left');
    assert.ok(the.faults.requests.length < 20, `${the.faults.requests.length} requests in a minute`);
    await the.make('a');
    await the.clock.until(() => the.seen.known.has('a'));
  });

  test('a connection that fell silent is cut when the watch should long have ended', async () => {
    await using the = await followed();
    the.start();
    await the.clock.run(the.informer.synced());
    the.faults.silenceWatches();
    await the.make('a');
    await the.clock.advance(299_000);
    assert.equal(the.faults.requests.length, 1);
    await the.clock.advance(340_000);
    assert.equal(the.faults.requests.length >= 2, true);
    await the.clock.until(() => the.seen.known.has('a'));
  });

  test('a WatchList that says nothing is given up for a list', async () => {
    await using the = await followed();
    await the.make('a');
    the.start();
    await the.clock.settle();
    const hold = the.faults.hang(isWatch);
    the.faults.cutWatches();
    the.faults.expireWatches(1);
    await the.clock.advance(35_000);
    hold.release();
    await the.clock.until(() => the.informer.hasSynced);
  });

  test('is well again when its watch lasts, also while nothing happens', async () => {
    await using the = await followed();
    the.start();
    await the.clock.run(the.informer.synced());
    await the.clock.advance(20_000);
    the.faults.cutWatches();
    await the.clock.advance(3_000);
    assert.equal(the.informer.health.state, 'failing');
    assert.equal(the.faults.openWatches, 1);
    await the.clock.advance(10_000);
    assert.deepEqual(the.informer.health, { state: 'watching' });
  });

  test('keeps what it knows while its server is away', async () => {
    await using the = await followed();
    await the.make('a');
    the.start();
    await the.clock.run(the.informer.synced());
    the.seen.take();
    the.faults.failNext(Infinity);
    the.faults.cutWatches();
    await the.clock.advance(120_000);
    assert.equal(the.informer.health.lastError?.name, 'ConnectionFailed');
    assert.deepEqual(the.seen.take(), []);
    assert.equal((await the.cache.get(ConfigMap, { namespace: 'default', name: 'a' })).metadata.name, 'a');
    await the.remove('a');
    the.faults.heal();
    the.faults.forget();
    await the.clock.until(() => !the.seen.known.has('a'));
    assert.equal(watchesOf(the)[0]!.has('sendInitialEvents'), false, 'it goes on: nothing is wrong with its version');
  });

  test('can be ended at every moment, and leaves nothing behind', async () => {
    for (let moment = 0; moment < 60; moment++) {
      await using the = await followed({ options: { watchList: moment % 2 === 0 } });
      await the.make('a');
      if (moment % 3 === 0) the.faults.failNext(2);
      if (moment % 3 === 1) the.faults.delay(5);
      the.start();
      const waiting = the.informer.synced().catch((error: { code: string }) => error.code);
      for (let turn = 0; turn < moment; turn++) {
        if (turn % 2 === 0) await Promise.resolve();
        else await the.clock.advance(turn % 5);
      }
      await the.stop();
      const outcome = await waiting;
      assert.equal(outcome, the.informer.hasSynced ? undefined : 'CacheNotSynced', `moment ${moment}`);
      assert.equal(the.informer.health.state, 'ended');
      const late = the.informer.addHandler({});
      if (!the.informer.hasSynced) await assert.rejects(late.synced(), { code: 'CacheNotSynced' });
      const count = the.faults.requests.length;
      await the.clock.advance(60_000);
      assert.equal(the.faults.requests.length, count, 'it asks no more');
    }
  });
});
