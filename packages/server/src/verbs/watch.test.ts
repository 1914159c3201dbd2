import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeProtobuf } from '@hangar/api';
import type { Scheduler } from '@hangar/core/simulation';
import type { Store, Watch, WatchOptions } from '@hangar/store';
import { isStreaming, nobody } from '../http/message.ts';
import {
  configMap,
  configMaps,
  definition,
  definitions,
  TestServer,
  TestSink,
  virtualClock,
  widget,
  widgets,
} from '../testing/test-server.ts';
import type { Data } from '../testing/test-server.ts';

const versionOf = (object: Data): number => Number(object.metadata.resourceVersion);

test('a watch from the version of a list has every change after it, once and in order', async () => {
  await using server = await TestServer.start();
  await server.create(configMaps, configMap('before'));
  const { resourceVersion } = (await server.get(configMaps)).metadata;
  // Events between list and watch are not lost.
  await server.create(configMaps, configMap('a'));
  const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=${resourceVersion}`);
  await server.merge(`${configMaps}/a`, { data: { x: 'y' } });
  await server.create(configMaps, configMap('b'));
  await server.remove(`${configMaps}/a`);
  const events = await watch.events(4);
  assert.deepEqual(
    events.map(({ type, object }) => `${type} ${object.metadata.name}`),
    ['ADDED a', 'MODIFIED a', 'ADDED b', 'DELETED a'],
  );
  const versions = events.map(({ object }) => versionOf(object));
  assert.deepEqual(
    versions,
    versions.toSorted((a, b) => a - b),
  );
  assert.equal(new Set(versions).size, 4);
  assert.deepEqual(events[3]!.object.data, { x: 'y' }, 'a deleted object is shown as it last was');
  watch.close();
});

test('a deletion carries its own version, from which a watch goes on', async () => {
  await using server = await TestServer.start();
  const created = await server.create(configMaps, configMap('a'));
  const from = `${configMaps}?watch=1&resourceVersion=`;
  const watch = await server.watch(`${from}${created.metadata.resourceVersion}`);
  await server.remove(`${configMaps}/a`);
  const [deleted] = await watch.events(1);
  assert.ok(versionOf(deleted!.object) > versionOf(created));
  const next = await server.watch(`${from}${deleted!.object.metadata.resourceVersion}`);
  await server.create(configMaps, configMap('b'));
  assert.deepEqual(await next.told(1), ['ADDED b']);
  watch.close();
  next.close();
});

test('a watch of other namespaces, of longer names and of other resources sees nothing', async () => {
  await using server = await TestServer.start();
  await server.create('/api/v1/namespaces', { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'default-2' } });
  const now = `resourceVersion=${await server.store.revision()}`;
  const inDefault = await server.watch(`${configMaps}?watch=1&${now}`);
  const one = await server.watch(`${configMaps}?watch=1&${now}&fieldSelector=metadata.name%3Da`);
  const none = await server.watch(`${configMaps}?watch=1&${now}&fieldSelector=metadata.name%3Da%2Fb`);
  const nowhere = await server.watch(`/api/v1/configmaps?watch=1&${now}&fieldSelector=metadata.namespace%3D..%2Fx`);
  const old = await server.watch(`/api/v1/watch/namespaces/default/configmaps/a?${now}`);
  await server.create('/api/v1/namespaces/default-2/configmaps', configMap('a'));
  await server.create('/api/v1/namespaces/default/secrets', {
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: { name: 'a' },
  });
  await server.create(configMaps, configMap('ab'));
  await server.create(configMaps, configMap('a'));
  assert.deepEqual(await inDefault.told(2), ['ADDED ab', 'ADDED a']);
  assert.deepEqual(await one.told(1), ['ADDED a']);
  assert.deepEqual(await old.told(1), ['ADDED a']);
  assert.deepEqual([none.waiting, nowhere.waiting], [0, 0]);
  for (const watch of [inDefault, one, none, nowhere, old]) watch.close();
});

describe('a selector', () => {
  const labels = (value: string): object => ({ metadata: { labels: { on: value } } });

  test('makes of an object that comes to match an addition, and of one that no longer does a deletion', async () => {
    await using server = await TestServer.start();
    const now = await server.store.revision();
    const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=${now}&labelSelector=on%3Dyes`);
    await server.create(configMaps, configMap('a'));
    await server.merge(`${configMaps}/a`, labels('yes'));
    await server.merge(`${configMaps}/a`, { data: { x: 'y' } });
    const left = await server.merge(`${configMaps}/a`, labels('no'));
    await server.merge(`${configMaps}/a`, { data: { x: 'z' } });
    await server.merge(`${configMaps}/a`, labels('yes'));
    const end = await server.merge(`${configMaps}/a`, { metadata: { finalizers: ['example.com/x'] } });
    const events = await watch.events(5);
    assert.deepEqual(
      events.map(({ type }) => type),
      ['ADDED', 'MODIFIED', 'DELETED', 'ADDED', 'MODIFIED'],
    );
    const gone = events[2]!.object;
    assert.equal(gone.metadata.resourceVersion, left.metadata.resourceVersion);
    assert.deepEqual(gone.metadata.labels, { on: 'yes' }, 'as it was when it still matched');
    assert.equal(versionOf(events[4]!.object), versionOf(end));
    watch.close();
  });

  test('passes over what is deleted without ever matching', async () => {
    await using server = await TestServer.start();
    const now = await server.store.revision();
    const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=${now}&labelSelector=on`);
    await server.create(configMaps, configMap('a'));
    await server.remove(`${configMaps}/a`);
    await server.create(configMaps, configMap('b', {}, { labels: { on: '' } }));
    assert.deepEqual(await watch.told(1), ['ADDED b']);
    watch.close();
  });
});

describe('where a watch begins', () => {
  test('without a version, or with 0, it begins with what is there', async () => {
    await using server = await TestServer.start();
    await server.create(configMaps, configMap('a'));
    for (const query of ['watch=1', 'watch=true&resourceVersion=0']) {
      const watch = await server.watch(`${configMaps}?${query}`);
      assert.deepEqual(await watch.told(1), ['ADDED a']);
      watch.close();
    }
  });

  test('with initial events, a bookmark says where they end', async () => {
    await using server = await TestServer.start();
    await server.create(configMaps, configMap('a'));
    await server.create(configMaps, configMap('b', {}, { labels: { on: 'yes' } }));
    const initial = 'watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
    for (const [query, added] of [
      ['', ['ADDED a', 'ADDED b']],
      ['&resourceVersion=1', ['ADDED a', 'ADDED b']],
      ['&labelSelector=on', ['ADDED b']],
      ['&fieldSelector=metadata.name%3Dnone', []],
    ] as const) {
      const watch = await server.watch(`${configMaps}?${initial}${query}`);
      assert.deepEqual(await watch.told(added.length), added);
      const [end] = await watch.events(1);
      assert.equal(end!.type, 'BOOKMARK');
      assert.deepEqual(end!.object.metadata.annotations, { 'k8s.io/initial-events-end': 'true' });
      assert.equal(versionOf(end!.object), await server.store.revision());
      assert.deepEqual([end!.object.kind, end!.object.apiVersion], ['ConfigMap', 'v1']);
      watch.close();
    }
  });

  test('without initial events it begins now', async () => {
    await using server = await TestServer.start();
    await server.create(configMaps, configMap('a'));
    const watch = await server.watch(`${configMaps}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`);
    await server.create(configMaps, configMap('b'));
    assert.deepEqual(await watch.told(1), ['ADDED b']);
    watch.close();
  });

  test('a version that was compacted away is told as an event', async () => {
    await using server = await TestServer.start();
    const created = await server.create(configMaps, configMap('a'));
    await server.merge(`${configMaps}/a`, { data: { x: 'y' } });
    await server.create(configMaps, configMap('b'));
    await server.store.compact(await server.store.revision());
    const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=${versionOf(created)}`);
    const [event] = await watch.events(1);
    assert.equal(event!.type, 'ERROR');
    assert.deepEqual([event!.object.code, event!.object.reason], [410, 'Expired']);
    await watch.ended();
  });

  test('initial events of a version to come are a timeout', async () => {
    await using server = await TestServer.start({ clock: virtualClock() });
    const initial = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
    const refused = await server.expect(504, 'GET', `${configMaps}?${initial}&resourceVersion=99999`);
    assert.match(refused.message, /Too large resource version: 99999, current: \d+/);
  });

  test('what cannot be is refused before anything is answered', async () => {
    await using server = await TestServer.start();
    for (const [query, status] of [
      ['watch=1&resourceVersion=x', 400],
      ['watch=1&sendInitialEvents=true', 422],
      ['watch=1&resourceVersionMatch=NotOlderThan', 422],
      ['watch=1&sendInitialEvents=true&resourceVersionMatch=Exact', 422],
      ['watch=1&labelSelector=%2F%2F', 400],
      ['watch=1&timeoutSeconds=x', 400],
    ] as const) {
      await server.expect(status, 'GET', `${configMaps}?${query}`);
    }
    await server.expect(406, 'GET', `${configMaps}?watch=1`, { accept: 'application/yaml' });
  });
});

describe('in its own time', () => {
  test('a watch that allows bookmarks gets one a minute, with the version that it has reached', async () => {
    const clock = virtualClock();
    await using server = await TestServer.start({ clock });
    const watch = await server.watch(`${configMaps}?watch=1&allowWatchBookmarks=true&timeoutSeconds=600`);
    const silent = await server.watch(`${configMaps}?watch=1&timeoutSeconds=600`);
    await server.create('/api/v1/namespaces/default/secrets', {
      kind: 'Secret',
      apiVersion: 'v1',
      metadata: { name: 'x' },
    });
    await clock.advance(59_000);
    assert.equal(watch.waiting, 0);
    await clock.advance(2_000);
    const [bookmark] = await watch.events(1);
    assert.equal(bookmark!.type, 'BOOKMARK');
    assert.equal(versionOf(bookmark!.object), await clock.run(server.store.revision()));
    await clock.advance(120_000);
    assert.equal(watch.waiting, 2);
    assert.equal(silent.waiting, 0);
    watch.close();
    silent.close();
  });

  test('a watch ends when its time is over, and without one within an hour', async () => {
    const clock = virtualClock();
    await using server = await TestServer.start({ clock });
    const short = await server.watch(`${configMaps}?watch=1&timeoutSeconds=5`);
    const long = await server.watch(`${configMaps}?watch=1`);
    const odd = await server.watch(`${configMaps}?watch=1&timeoutSeconds=-5`);
    await clock.advance(4_900);
    assert.ok(!short.sink.isEnded);
    await clock.advance(200);
    assert.ok(short.sink.isEnded);
    assert.equal(short.sink.chunks.length, 0, 'an end is no error');
    await clock.advance(1_700_000);
    assert.ok(!long.sink.isEnded && !odd.sink.isEnded);
    await clock.advance(2_000_000);
    assert.ok(long.sink.isEnded && odd.sink.isEnded);
  });
});

describe('a client that does not keep up', () => {
  test('is sent no more than it takes, and all of it when it does', async () => {
    await using server = await TestServer.start();
    const sink = new TestSink();
    sink.takesMore = false;
    const now = await server.store.revision();
    const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=${now}`, { sink });
    const count = 300;
    for (let at = 0; at < count; at++) await server.create(configMaps, configMap(`m${at}`, { x: 'x'.repeat(1_000) }));
    assert.equal(sink.chunks.length, 1, 'one frame is what the other end did not take yet');
    sink.drain();
    const told = await watch.told(count);
    assert.deepEqual(
      told,
      Array.from({ length: count }, (_, at) => `ADDED m${at}`),
    );
    watch.close();
  });

  test('is told 410 when what it missed is gone', async () => {
    await using server = await TestServer.start({ store: { watchQueueLengthMax: 4 } });
    const sink = new TestSink();
    sink.takesMore = false;
    const now = await server.store.revision();
    const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=${now}`, { sink });
    for (let at = 0; at < 20; at++) await server.create(configMaps, configMap(`m${at}`));
    await server.store.compact(await server.store.revision());
    sink.drain();
    await watch.ended();
    const last = JSON.parse(sink.chunks.at(-1)!.toString());
    assert.deepEqual([last.type, last.object.code], ['ERROR', 410]);
  });

  test('and goes away while it is waited for is forgotten', async () => {
    await using server = await TestServer.start();
    const sink = new TestSink();
    sink.takesMore = false;
    const watch = await server.watch(`${configMaps}?watch=1`, { sink });
    for (let at = 0; at < 5; at++) await server.create(configMaps, configMap(`m${at}`));
    watch.close();
    await server.create(configMaps, configMap('last'));
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(sink.chunks.length <= 2);
  });
});

describe('a watch leaves nothing behind', () => {
  /** Counts the open watches of the store. */
  async function counting(clock?: Scheduler): Promise<{ server: TestServer; open: () => number }> {
    let open = 0;
    const wrapStore = (store: Store): Store =>
      new Proxy(store, {
        get(target, name) {
          const own = Reflect.get(target, name, target);
          if (name !== 'watch') return typeof own === 'function' ? own.bind(target) : own;
          return (options: WatchOptions) => {
            const watch = target.watch(options);
            // Ignore the watches of the server itself.
            if (!options.prefix.endsWith('/configmaps/default/')) return watch;
            open++;
            let isOpen = true;
            const close = (): void => {
              if (isOpen) open--;
              isOpen = false;
              watch.close();
            };
            return { next: () => watch.next(), requestProgress: () => watch.requestProgress(), close } as Watch;
          };
        },
      });
    return { server: await TestServer.start({ wrapStore, ...(clock && { clock }) }), open: () => open };
  }

  test('of HEAD, or of a client that is gone before it begins', async () => {
    const { server, open } = await counting();
    await using _ = server;
    const before = open();
    const { body } = await server.answer('HEAD', `${configMaps}?watch=1`);
    assert.equal(open(), before, 'nothing is open before it begins');
    assert.ok(isStreaming(body));
    body.start(nobody);
    assert.equal(open(), before);
    const watch = await server.watch(`${configMaps}?watch=1`);
    assert.equal(open(), before + 1);
    watch.close();
    assert.equal(open(), before);
  });

  for (const [what, initial] of [
    ['events', 0],
    ['objects that were there', 1],
  ] as const) {
    test(`when its time is over, though nobody reads its ${what}`, async () => {
      const clock = virtualClock();
      const { server, open } = await counting(clock);
      await using _ = server;
      const before = open();
      const make = async (): Promise<void> => {
        for (let at = 0; at < 3; at++) await server.create(configMaps, configMap(`m${at}`));
      };
      if (initial > 0) await make();
      const sink = new TestSink();
      sink.takesMore = false;
      await server.watch(`${configMaps}?watch=1&timeoutSeconds=5`, { sink });
      if (initial === 0) await make();
      await clock.advance(4_000);
      assert.deepEqual([sink.isEnded, sink.chunks.length, open()], [false, 1, before + 1]);
      await clock.advance(1_100);
      assert.deepEqual([sink.isEnded, sink.chunks.length, open()], [true, 1, before]);
    });
  }
});

test('a watch whose time is over sends all events of a revision that it has begun', async () => {
  const clock = virtualClock();
  let wasReached = false;
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const wrapStore = (store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        const own = Reflect.get(target, name, target);
        if (name !== 'watch') return typeof own === 'function' ? own.bind(target) : own;
        return (options: WatchOptions): Watch => {
          const watch = target.watch(options);
          if (!options.prefix.endsWith('/configmaps/default/')) return watch;
          const next = async (): ReturnType<Watch['next']> => {
            const batch = await watch.next();
            if (batch && batch.events.length > 1) {
              wasReached = true;
              await released;
            }
            return batch;
          };
          return { next, requestProgress: () => watch.requestProgress(), close: () => watch.close() } as Watch;
        };
      },
    });
  await using server = await TestServer.start({ wrapStore, clock });
  for (const name of ['a', 'b', 'c']) await server.create(configMaps, configMap(name));
  const { resourceVersion } = (await server.get(configMaps)).metadata;
  const sink = new TestSink();
  sink.takesMore = false;
  const target = `${configMaps}?watch=1&resourceVersion=${resourceVersion}&timeoutSeconds=5`;
  const watch = await server.watch(target, { sink });
  const start = `${server.plane.prefix}configmaps/default/`;
  await server.run(server.store.commit([{ type: 'deleteRange', range: { start, end: `${start}\uffff` } }]));
  await server.until('the watch reads the deletion', () => Promise.resolve(wasReached));
  await clock.advance(6_000);
  release();
  await clock.advance(1);
  assert.deepEqual(await watch.told(3), ['DELETED a', 'DELETED b', 'DELETED c']);
  assert.ok(sink.isEnded);
});

describe('other forms', () => {
  test('a table has its columns once, at the beginning, for everyone who watches', async () => {
    await using server = await TestServer.start();
    const form = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
    const now = await server.store.revision();
    const target = `${configMaps}?watch=1&resourceVersion=${now}`;
    const one = await server.watch(target, form);
    await server.create(configMaps, configMap('a'));
    const [first] = await one.events(1);
    assert.equal(first!.object.kind, 'Table');
    assert.equal(first!.object.columnDefinitions[0].name, 'Name');
    assert.equal(first!.object.rows[0].cells[0], 'a');
    const other = await server.watch(target, form);
    await server.create(configMaps, configMap('b'));
    const [second] = await one.events(1);
    assert.ok(!second!.object.columnDefinitions?.length);
    const [again, then] = await other.events(2);
    assert.equal(again!.object.columnDefinitions[0].name, 'Name');
    assert.ok(!then!.object.columnDefinitions?.length);
    one.close();
    other.close();
  });

  test('metadata alone, of v1 and v1beta1, for built-in kinds and custom resources', async () => {
    await using server = await TestServer.start();
    await server.create(definitions, definition());
    await server.create(configMaps, configMap('a', { x: 'y' }));
    await server.create(widgets, widget('w', { size: 1 }));
    for (const path of [configMaps, widgets]) {
      for (const version of ['v1', 'v1beta1']) {
        const watch = await server.watch(`${path}?watch=1`, {
          accept: `application/json;as=PartialObjectMetadata;v=${version};g=meta.k8s.io`,
        });
        const [event] = await watch.events(1);
        assert.equal(event!.type, 'ADDED');
        assert.deepEqual(Object.keys(event!.object).sort(), ['apiVersion', 'kind', 'metadata']);
        assert.equal(event!.object.apiVersion, `meta.k8s.io/${version}`);
        watch.close();
      }
    }
  });

  test('protobuf frames say their length', async () => {
    await using server = await TestServer.start();
    await server.create(configMaps, configMap('a', { x: 'y' }));
    const watch = await server.watch(`${configMaps}?watch=1`, { accept: 'application/vnd.kubernetes.protobuf' });
    assert.equal(watch.headers['content-type'], 'application/vnd.kubernetes.protobuf;stream=watch');
    const [frame] = await watch.frames(1);
    assert.equal(frame!.readUInt32BE(0), frame!.length - 4);
    const inside = frame!.subarray(frame!.indexOf('k8s\u0000', 5));
    assert.equal(frame!.subarray(4, 30).includes('ADDED'), true);
    const { metadata, data } = decodeProtobuf(inside) as Data;
    assert.deepEqual([metadata.name, data], ['a', { x: 'y' }]);
    watch.close();
    await server.expect(406, 'GET', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions?watch=1`, {
      accept: 'text/plain',
    });
  });

  test('every watcher gets the same bytes', async () => {
    await using server = await TestServer.start();
    const now = await server.store.revision();
    const watches = await Promise.all(
      [1, 2, 3].map(() => server.watch(`${configMaps}?watch=1&resourceVersion=${now}`)),
    );
    const plain = await server.create(configMaps, configMap('a'));
    const frames = await Promise.all(watches.map(async (watch) => (await watch.frames(1))[0]!.toString()));
    assert.equal(new Set(frames).size, 1);
    assert.deepEqual(JSON.parse(frames[0]!), { type: 'ADDED', object: plain });
    assert.ok(frames[0]!.endsWith('}\n'));
    for (const watch of watches) watch.close();
  });
});

test('events of the same object in two versions are shown in the one that was asked for', async () => {
  await using server = await TestServer.start();
  const now = await server.store.revision();
  const old = await server.watch(
    `/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers?watch=1&resourceVersion=${now}`,
  );
  const present = await server.watch(
    `/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers?watch=1&resourceVersion=${now}`,
  );
  await server.create('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', {
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v2',
    metadata: { name: 'a' },
    spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'a', apiVersion: 'apps/v1' } },
  });
  const [[one], [other]] = [await old.events(1), await present.events(1)];
  assert.deepEqual([one!.object.apiVersion, other!.object.apiVersion], ['autoscaling/v1', 'autoscaling/v2']);
  old.close();
  present.close();
});
