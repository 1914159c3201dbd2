/** Malformed and misbehaving servers, simulated by hand. See informer.test.ts for correct servers. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ClientError, ReceivedStatusError } from '@hangar/client';
import type { ApiObject, ObjectList, WatchEvent, WatchOptions } from '@hangar/client';
import { abortError, seededRandom, sleep } from '@hangar/core';
import { virtualClock } from '@hangar/testkit';
import type { VirtualClock } from '@hangar/testkit';
import { Reflector } from './reflector.ts';
import type { Source } from './source.ts';

type Event = WatchEvent<ApiObject>;

const object = (name: string, resourceVersion: string): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', uid: name, resourceVersion },
});
const bookmark = (resourceVersion: string, isInitialEventsEnd = false): Event => ({
  type: 'BOOKMARK',
  resourceVersion,
  isInitialEventsEnd,
});
const refusal = (code: number, reason: 'Expired' | 'Timeout' | 'Invalid', message: string): Error =>
  new ReceivedStatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, reason, message });
const listed = (resourceVersion: string, ...items: ApiObject[]): ObjectList<ApiObject> => ({ items, resourceVersion });

/** Events of a watch; 'open' keeps it open until the reader leaves. */
type Script = readonly (Event | Error | 'open')[];

interface Played {
  readonly clock: VirtualClock;
  readonly reflector: Reflector<ApiObject>;
  /** By name, as `name@version`. */
  readonly has: () => string[];
  readonly watches: WatchOptions[];
  readonly lists: number[];
  run<R>(act: () => Promise<R>): Promise<R>;
}

function play({
  watch,
  list = () => listed('1'),
  watchList = true,
  waitsFor = () => undefined,
}: {
  /** Delays a list. */
  waitsFor?: (at: number) => Promise<void> | undefined;
  watch: (options: WatchOptions, at: number) => Script;
  list?: (at: number) => ObjectList<ApiObject>;
  watchList?: boolean;
}): Played {
  const clock = virtualClock();
  const objects = new Map<string, string>();
  const watches: WatchOptions[] = [];
  const lists: number[] = [];
  const source: Source<ApiObject> = {
    async list() {
      const at = lists.push(clock.monotonicMs()) - 1;
      await waitsFor(at);
      return list(at);
    },
    async *watch(options) {
      watches.push(options);
      for (const event of watch(options, watches.length - 1)) {
        if (event instanceof Error) throw event;
        if (event !== 'open') yield event;
        else await sleep(clock, 2 ** 40, options.signal).catch(() => Promise.reject(abortError(options.signal!)));
      }
    },
  };
  const put = ({ metadata }: ApiObject): void => void objects.set(metadata.name!, metadata.resourceVersion!);
  const target = {
    keep: (one: ApiObject) => one,
    replace: async (all: Iterable<ApiObject>) => {
      objects.clear();
      for (const one of all) put(one);
    },
    put,
    remove: ({ metadata }: ApiObject) => void objects.delete(metadata.name!),
  };
  const reflector = new Reflector<ApiObject>({ source, target, clock, random: seededRandom(1), watchList });
  return {
    clock,
    reflector,
    has: () => Array.from(objects, ([name, version]) => `${name}@${version}`),
    watches,
    lists,
    async run(act) {
      const controller = new AbortController();
      const running = reflector.run(controller.signal);
      try {
        return await act();
      } finally {
        controller.abort();
        await clock.run(running);
      }
    },
  };
}

describe('a reflector', () => {
  test('goes on from the last bookmark', async () => {
    const the = play({
      watch: (_, at) =>
        at === 0 ? [{ type: 'ADDED', object: object('a', '5') }, bookmark('7', true), bookmark('90'), lost] : ['open'],
    });
    await the.run(() => the.clock.advance(10_000));
    assert.deepEqual(the.has(), ['a@5']);
    assert.deepEqual(
      the.watches.map(({ resourceVersion, sendInitialEvents }) => [resourceVersion, sendInitialEvents]),
      [
        [undefined, true],
        ['90', undefined],
      ],
    );
    assert.equal(the.lists.length, 0);
  });

  test('goes on from the last event, also that of a deletion', async () => {
    const scripts: Script[] = [
      [bookmark('7', true), { type: 'ADDED', object: object('a', '8') }, lost],
      [{ type: 'DELETED', object: object('a', '9') }, lost],
      ['open'],
    ];
    const the = play({ watch: (_, at) => scripts[at]! });
    await the.run(() => the.clock.advance(10_000));
    assert.deepEqual(
      the.watches.map(({ resourceVersion }) => resourceVersion),
      [undefined, '8', '9'],
    );
    assert.deepEqual(the.has(), []);
  });

  test('takes what happens to initial objects before they are complete', async () => {
    const the = play({
      watch: () => [
        { type: 'ADDED', object: object('a', '1') },
        { type: 'ADDED', object: object('b', '2') },
        { type: 'MODIFIED', object: object('a', '3') },
        { type: 'DELETED', object: object('b', '4') },
        bookmark('4'),
        bookmark('5', true),
        'open',
      ],
    });
    await the.run(() => the.clock.advance(10));
    assert.deepEqual(the.has(), ['a@3']);
    assert.equal(the.reflector.resourceVersion, '5');
  });

  test('an old server, which takes a WatchList for a watch, is given up for a list after a silence', async () => {
    const the = play({
      watch: ({ sendInitialEvents }) =>
        sendInitialEvents ? [{ type: 'ADDED', object: object('a', '1') }, bookmark('2'), 'open'] : ['open'],
      list: () => listed('3', object('a', '1')),
    });
    await the.run(async () => {
      await the.clock.advance(29_000);
      assert.deepEqual(the.has(), []);
      await the.clock.advance(3_000);
      assert.deepEqual(the.has(), ['a@1']);
      assert.equal(the.watches.at(-1)!.resourceVersion, '3');
    });
  });

  test('a WatchList that breaks off again and again is given up for a list', async () => {
    const the = play({
      watch: ({ sendInitialEvents }) =>
        sendInitialEvents ? [{ type: 'ADDED', object: object('a', '1') }, lost] : ['open'],
      list: () => listed('3', object('a', '1')),
    });
    await the.run(() => the.clock.advance(10_000));
    assert.deepEqual(the.has(), ['a@1']);
    assert.equal(the.watches.filter(({ sendInitialEvents }) => sendInitialEvents).length, 2);
  });

  test('follows a server that was set back: a version that it does not know yet, then other objects with old versions', async () => {
    const tooLarge = refusal(504, 'Timeout', 'Timeout: Too large resource version: 900, current: 12');
    const the = play({
      watchList: false,
      list: (at) => (at === 0 ? listed('900', object('a', '900'), object('b', '3')) : listed('12', object('a', '12'))),
      watch: ({ resourceVersion }) => (resourceVersion === '900' ? [tooLarge] : ['open']),
    });
    await the.run(() => the.clock.advance(10_000));
    assert.deepEqual(the.has(), ['a@12']);
    assert.equal(the.reflector.resourceVersion, '12');
  });

  test('objects without a name or a version are refused, and all is asked for again', async () => {
    for (const broken of [
      { ...object('a', '2'), metadata: {} },
      { ...object('a', '2'), metadata: { name: 'a' } },
      { apiVersion: 'v1', kind: 'ConfigMap' } as ApiObject,
    ]) {
      const the = play({
        watchList: false,
        list: (at) => listed(`${at + 1}`),
        watch: (_, at) => (at === 0 ? [{ type: 'ADDED', object: broken }] : ['open']),
      });
      await the.run(async () => {
        await the.clock.advance(1);
        assert.equal(the.reflector.health.lastError?.name, 'MalformedAnswer');
        await the.clock.advance(10_000);
        assert.equal(the.lists.length, 2);
        assert.equal(the.reflector.health.state, 'watching');
      });
    }
  });

  test('a list without a version, or with garbage in it, is asked for again', async () => {
    const bad = [listed(''), listed('1', { ...object('a', '1'), metadata: {} })];
    const the = play({
      watchList: false,
      list: (at) => bad[at] ?? listed('3', object('a', '3')),
      watch: () => ['open'],
    });
    await the.run(() => the.clock.advance(20_000));
    assert.equal(the.lists.length, 3);
    assert.deepEqual(the.has(), ['a@3']);
  });

  test('waits between 800 ms and 30 s, longer each time, and begins anew after a healthy time', async () => {
    const the = play({
      watchList: false,
      list: (at) => {
        if (at < 10) throw lost;
        return listed('1');
      },
      watch: (_, at) => (at === 0 ? ['open'] : [lost]),
    });
    await the.run(async () => {
      await the.clock.advance(300_000);
      const waits = the.lists.slice(1).map((ms, at) => ms - the.lists[at]!);
      assert.equal(the.lists.length, 11);
      for (const [at, ms] of waits.entries()) {
        const longestMs = Math.min(30_000, 1_600 * 2 ** at);
        assert.ok(ms >= longestMs / 2 && ms <= longestMs, `wait ${at}: ${ms}`);
      }
      // The watch stays open until its maximum age; then it reconnects almost at once.
      await the.clock.until(() => the.watches.length >= 2, { withinMs: 700_000 });
      const begunMs = the.clock.monotonicMs();
      await the.clock.until(() => the.watches.length >= 3);
      assert.ok(the.clock.monotonicMs() - begunMs < 4_000);
    });
  });

  test('whatever fails again and again, all is asked for again', async () => {
    const the = play({
      watchList: false,
      list: (at) => listed(`${at}`),
      watch: ({ resourceVersion }) => (resourceVersion === '0' ? [lost] : ['open']),
    });
    await the.run(async () => {
      await the.clock.advance(120_000);
      assert.equal(the.lists.length, 2);
      assert.equal(the.reflector.health.state, 'watching');
    });
  });

  test('a watch that brings nothing but events and ends is resumed, not asked for in a loop', async () => {
    let version = 1;
    const the = play({
      watchList: false,
      watch: () => [{ type: 'MODIFIED', object: object('a', `${++version}`) }],
    });
    await the.run(() => the.clock.advance(60_000));
    assert.ok(the.watches.length < 12, `${the.watches.length} watches in a minute`);
    assert.equal(the.lists.length, 1);
  });
});

describe('asking for everything anew', () => {
  for (const watchList of [true, false]) {
    const script = ({ sendInitialEvents }: WatchOptions): Script =>
      sendInitialEvents ? [bookmark('5', true), 'open'] : ['open'];
    const loads = (the: Played): number =>
      watchList ? the.watches.filter(({ sendInitialEvents }) => sendInitialEvents).length : the.lists.length;

    test(`breaks off a watch, at once (WatchList: ${watchList})`, async () => {
      const the = play({ watch: script, watchList });
      await the.run(async () => {
        await the.clock.advance(1_000);
        assert.equal(loads(the), 1);
        await the.clock.run(the.reflector.refreshed());
        assert.equal(loads(the), 2);
        assert.ok(the.clock.monotonicMs() < 1_100);
        assert.equal(the.reflector.health.state, 'watching');
        await the.clock.advance(60_000);
        assert.equal(loads(the), 2, 'and once');
      });
    });

    test(`is one for all who ask together (WatchList: ${watchList})`, async () => {
      const the = play({ watch: script, watchList });
      await the.run(async () => {
        await the.clock.advance(1_000);
        await the.clock.run(Promise.all(Array.from({ length: 100 }, () => the.reflector.refreshed())));
        await the.clock.advance(1_000);
        assert.equal(loads(the), 2);
      });
    });
  }

  test('does not wait for a back-off, but for as long as the server cannot be asked', async () => {
    let isWell = false;
    const the = play({
      watchList: false,
      list: () => {
        if (!isWell) throw lost;
        return listed('9');
      },
      watch: () => ['open'],
    });
    await the.run(async () => {
      await the.clock.advance(200_000);
      let isDone = false;
      void the.reflector.refreshed().then(() => (isDone = true));
      await the.clock.advance(60_000);
      assert.equal(isDone, false);
      isWell = true;
      const { length } = the.lists;
      await the.clock.run(the.reflector.refreshed());
      assert.equal(the.lists.length, length + 1);
      assert.equal(isDone, true);
    });
  });

  test('is not answered by what was asked for before', async () => {
    const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const the = play({ watchList: false, watch: () => ['open'], waitsFor: (at) => answers[at]?.promise });
    await the.run(async () => {
      await the.clock.advance(1);
      let isDone = false;
      void the.reflector.refreshed().then(() => (isDone = true));
      answers[0]!.resolve();
      await the.clock.advance(1_000);
      assert.deepEqual([the.lists.length, isDone], [2, false]);
      answers[1]!.resolve();
      await the.clock.advance(1);
      assert.equal(isDone, true);
      assert.equal(the.lists.length, 2);
    });
  });

  test('can be given up, and ends with the cache', async () => {
    const the = play({
      watchList: false,
      list: () => {
        throw lost;
      },
      watch: () => ['open'],
    });
    let atItsEnd: Promise<void> | undefined;
    await the.run(async () => {
      const controller = new AbortController();
      const givenUp = assert.rejects(the.reflector.refreshed(controller.signal), { code: 'Aborted' });
      controller.abort();
      await givenUp;
      atItsEnd = assert.rejects(the.reflector.refreshed(), { code: 'CacheNotSynced' });
    });
    await atItsEnd;
    await assert.rejects(the.reflector.refreshed(), { code: 'CacheNotSynced' });
  });
});

const lost = new ClientError('ConnectionLost', 'gone');
