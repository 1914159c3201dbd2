import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EngineWorldForTests } from './testing/engine-world.ts';

const many = (length: number, word: string): string[] => Array.from({ length }, (_, at) => `${word}${at}`);

describe('clusters that hang or fail', () => {
  test('delay no other one, however many they are', async () => {
    for (const behaviour of ['hangs', 'hangs for ever', 'never syncs', 'fails'] as const) {
      const world = new EngineWorldForTests({ openConcurrency: 8 });
      for (const name of many(100, 'hung')) {
        world.behaviours.set(name, behaviour);
        world.discover(name);
      }
      world.discover('a');
      // 100 hanging clusters with 8 places of 100 ms each.
      await world.clock.advance(1_300);
      assert.equal(world.stateOf('a'), 'engaged', behaviour);
      // Clusters that failed once no longer delay a new one.
      await world.clock.advance(60_000);
      world.discover('b');
      await world.clock.advance(0);
      assert.equal(world.stateOf('b'), 'engaged', behaviour);
      await world.stop();
      assert.deepEqual(world.alive(), [], behaviour);
    }
  });

  test('are tried again for ever, at growing distances that are no two alike, at a bounded rate', async () => {
    const world = new EngineWorldForTests();
    for (const name of many(50, 'bad')) {
      world.behaviours.set(name, 'fails');
      world.discover(name);
    }
    await world.clock.advance(3_600_000);
    const of = (name: string) => world.attempts.filter((one) => one.name === name).map(({ atMs }) => atMs);
    const distances = of('bad0')
      .slice(1)
      .map((atMs, at) => atMs - of('bad0')[at]!);
    for (const [at, distanceMs] of distances.entries()) {
      const fullMs = Math.min(120_000, 1_000 * 2 ** at);
      assert.ok(distanceMs >= fullMs / 2 && distanceMs <= fullMs + 1_000, `${at}: ${distanceMs}`);
    }
    assert.ok(distances.length > 30 && distances.length < 70, String(distances.length));
    assert.notDeepEqual(of('bad0'), of('bad1'));
    const { state, failures, lastError, retryInMs } = world.engine.status()[0]!;
    assert.deepEqual([state, failures, lastError], ['failed', distances.length + 1, 'no route']);
    assert.ok(retryInMs! > 0);
    world.behaviours.clear();
    await world.clock.advance(121_000);
    assert.equal([...world.engine.names()].length, 50);
    await world.stop();
  });

  test('are bounded in time, and nothing of them is left', async () => {
    const world = new EngineWorldForTests({ engageTimeoutMs: 5_000 });
    world.behaviours.set('a', 'never syncs');
    world.discover('a');
    await world.clock.advance(4_999);
    assert.equal(world.stateOf('a'), 'opening');
    await world.clock.advance(1);
    assert.equal(world.stateOf('a'), 'failed');
    assert.match(world.engine.status()[0]!.lastError!, /within 5000 ms/);
    assert.deepEqual(world.alive(), []);
    assert.deepEqual(world.aware.log, []);
    await world.stop();
  });

  test('that open too late are closed', async () => {
    const world = new EngineWorldForTests({ engageTimeoutMs: 1_000 });
    const late = Promise.withResolvers<never>();
    let isClosed = false;
    const cluster = { client: { close: () => Promise.resolve((isClosed = true)) } };
    world.discover('a', '1', { open: () => late.promise });
    await world.clock.advance(1_000);
    assert.equal(world.stateOf('a'), 'failed');
    late.resolve(cluster as never);
    await world.settle();
    assert.ok(isClosed);
    await world.stop();
  });

  test('that say that nothing but a change helps wait for it without a timer', async () => {
    const world = new EngineWorldForTests();
    world.behaviours.set('a', 'is refused');
    world.discover('a');
    await world.clock.advance(3_600_000);
    assert.equal(world.attempts.length, 1);
    assert.deepEqual(world.engine.status(), [{ name: 'a', state: 'failed', failures: 1, lastError: 'no kubeconfig' }]);
    assert.equal(world.clock.timers, 0);
    world.behaviours.clear();
    world.discover('a', '2');
    await world.clock.advance(1_000);
    assert.equal(world.stateOf('a'), 'engaged');
    await world.stop();
  });

  test('by throwing instead of rejecting are contained', async () => {
    const world = new EngineWorldForTests();
    world.discover('a', '1', {
      open: () => {
        throw new Error('at once');
      },
    });
    await world.settle();
    assert.equal(world.stateOf('a'), 'failed');
    await world.stop();
  });

  test('after they were engaged are opened again, and what is queued waits', async () => {
    const world = new EngineWorldForTests();
    world.discover('a');
    await world.settle();
    world.instances[0]!.fail(new Error('the cache broke'));
    await world.settle();
    assert.equal(world.stateOf('a'), 'failed');
    assert.match(world.engine.status()[0]!.lastError!, /stopped unexpectedly: the cache broke/);
    await world.clock.advance(1_000);
    assert.deepEqual(world.aware.log, ['a engaged', 'a ClusterReplaced', 'a drained', 'a engaged']);
    assert.equal(world.alive().length, 1);
    // Released while it waits: the kept requests are dropped.
    world.behaviours.set('a', 'fails');
    world.alive()[0]!.fail(new Error('again'));
    await world.clock.advance(500);
    world.lose('a');
    await world.settle();
    assert.equal(world.aware.log.at(-1), 'a abandoned');
    assert.deepEqual(world.engine.status(), []);
    await world.stop();
  });
});
