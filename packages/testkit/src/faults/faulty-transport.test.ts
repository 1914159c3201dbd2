import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineKind, RestClient } from '@hangar/client';
import { startTestCluster } from '../test-cluster.ts';
import { virtualClock } from '../virtual-clock.ts';
import { faultyTransport, isWatch, isWrite } from './faulty-transport.ts';

const ConfigMap = defineKind({ apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', isNamespaced: true });
const namespace = 'default';

async function world() {
  const clock = virtualClock();
  const cluster = await startTestCluster({ clock });
  const faults = faultyTransport(cluster.transportOf(), { clock });
  const client = new RestClient(faults, { clock, retry: false });
  const make = (name: string): Promise<unknown> => cluster.client.create(ConfigMap, { metadata: { namespace, name } });
  const names = async (): Promise<string[]> =>
    (await cluster.client.list(ConfigMap, { namespace })).items.map(({ metadata }) => metadata.name!);
  return { clock, cluster, faults, client, make, names, [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() };
}

describe('a faulty transport', () => {
  test('passes everything on while nothing is asked of it', async () => {
    await using the = await world();
    await the.client.create(ConfigMap, { metadata: { namespace, name: 'one' } });
    assert.deepEqual(await the.names(), ['one']);
    assert.deepEqual(
      the.faults.requests.map(({ method }) => method),
      ['POST'],
    );
  });

  test('fails as many requests as it was told to, and only those that match', async () => {
    await using the = await world();
    the.faults.failNext(2, isWrite);
    await the.client.list(ConfigMap, { namespace });
    for (let at = 0; at < 2; at++) {
      await assert.rejects(the.client.create(ConfigMap, { metadata: { namespace, name: 'one' } }), {
        code: 'ConnectionFailed',
      });
    }
    assert.deepEqual(await the.names(), [], 'none of them arrived');
    await the.client.create(ConfigMap, { metadata: { namespace, name: 'one' } });
  });

  test('loses an answer of what was done', async () => {
    await using the = await world();
    the.faults.loseAnswers();
    const made = the.client.create(ConfigMap, { metadata: { namespace, name: 'one' } });
    await assert.rejects(made, { code: 'ConnectionLost' });
    assert.deepEqual(await the.names(), ['one']);
  });

  test('refuses as a server would', async () => {
    await using the = await world();
    the.faults.refuseNext({ status: 409, reason: 'Conflict' });
    await assert.rejects(the.client.list(ConfigMap), { code: 'Conflict' });
    the.faults.refuseNext({ status: 429, retryAfterSeconds: 7 });
    const { status, header } = await the.faults.request({ method: 'GET', target: '/version' });
    assert.deepEqual([status, header('retry-after')], [429, '7']);
  });

  for (const how of ['answer', 'event'] as const) {
    test(`tells a watch as ${how} that its version is too old`, async () => {
      await using the = await world();
      the.faults.expireWatches(1, how);
      await assert.rejects(the.client.watch(ConfigMap, { namespace })[Symbol.asyncIterator]().next(), {
        code: 'Expired',
      });
      const next = the.client.watch(ConfigMap, { namespace, resourceVersion: '0' })[Symbol.asyncIterator]();
      await the.make('one');
      assert.equal((await the.clock.run(next.next())).value.type, 'ADDED');
      await next.return?.();
    });
  }

  test('cuts, ends and silences open watches, also while they are not read', async () => {
    await using the = await world();
    const { resourceVersion } = await the.client.list(ConfigMap, { namespace });
    const open = async () => {
      const events = the.client.watch(ConfigMap, { namespace, resourceVersion })[Symbol.asyncIterator]();
      await the.make(`for-${the.faults.requests.length}`);
      await the.clock.run(events.next());
      return events;
    };
    const reading = (await open()).next();
    await the.clock.settle();
    assert.equal(the.faults.cutWatches(), 1);
    await assert.rejects(reading, { code: 'ConnectionLost' });
    assert.equal(the.faults.openWatches, 0);

    const idle = await open();
    assert.equal(the.faults.cutWatches(), 1);
    for (let isOver = false; !isOver;) {
      isOver = await idle.next().then(
        () => false,
        (error: { code: string }) => error.code === 'ConnectionLost',
      );
    }

    const ending = await open();
    the.faults.endWatches();
    let last;
    do last = await ending.next();
    while (!last.done);

    const silent = await open();
    let isHeard = false;
    the.faults.silenceWatches();
    let next = silent.next().finally(() => (isHeard = true));
    // Data received before may still be read.
    for (await the.clock.settle(); isHeard; await the.clock.settle()) {
      isHeard = false;
      next = silent.next().finally(() => (isHeard = true));
    }
    await the.make('unheard');
    await the.clock.advance(60_000);
    assert.equal(isHeard, false);
    the.faults.cutWatches();
    await assert.rejects(next, { code: 'ConnectionLost' });
  });

  test('a watch that is aborted is over, silent or not, and leaves nothing behind', async () => {
    await using the = await world();
    for (const isSilent of [false, true]) {
      const stopping = new AbortController();
      const events = the.client.watch(ConfigMap, { namespace, signal: stopping.signal })[Symbol.asyncIterator]();
      const next = events.next();
      await the.clock.settle();
      if (isSilent) the.faults.silenceWatches();
      stopping.abort();
      await assert.rejects(next, { code: 'Aborted' });
      assert.equal(the.faults.openWatches, 0);
    }
  });

  test('what is silent or hangs for too long has the end that a transport promises', async () => {
    await using the = await world();
    const silent = the.client.watch(ConfigMap, { namespace, timeoutSeconds: 5 })[Symbol.asyncIterator]().next();
    await the.clock.settle();
    the.faults.silenceWatches();
    await assert.rejects(the.clock.run(silent), { code: 'TimedOut' });
    the.faults.hang();
    await assert.rejects(the.clock.run(the.client.list(ConfigMap)), { code: 'TimedOut' });
  });

  test('holds requests until they are released, failed or aborted', async () => {
    await using the = await world();
    const stopping = new AbortController();
    const hold = the.faults.hang(({ method }) => method === 'GET');
    const [one, other] = [the.client.list(ConfigMap), the.client.list(ConfigMap, { signal: stopping.signal })];
    await the.clock.advance(60_000);
    assert.equal(hold.waiting, 2);
    stopping.abort();
    await assert.rejects(other, { code: 'Aborted' });
    assert.equal(hold.waiting, 1);
    hold.release();
    assert.ok((await one).items.length > 0);
    await the.client.list(ConfigMap);

    const failing = the.faults.hang(isWatch);
    const watching = the.client.watch(ConfigMap)[Symbol.asyncIterator]().next();
    await the.clock.settle();
    failing.fail();
    await assert.rejects(watching, { code: 'ConnectionLost' });
  });

  test('delays in virtual time, and heals', async () => {
    await using the = await world();
    the.faults.delay(5_000);
    const beganMs = the.clock.monotonicMs();
    await the.clock.run(the.client.list(ConfigMap));
    assert.equal(the.clock.monotonicMs() - beganMs, 5_000);
    the.faults.failNext(Infinity);
    the.faults.heal();
    await the.client.list(ConfigMap);
    assert.equal(the.clock.monotonicMs() - beganMs, 5_000);
  });
});
