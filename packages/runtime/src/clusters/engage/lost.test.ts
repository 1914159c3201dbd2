import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { seededRandom } from '@hangar/core';
import { EngineWorldForTests } from './testing/engine-world.ts';

describe('a cluster that is lost', () => {
  test('is disengaged at once, drained, stopped and forgotten; others are not touched', async () => {
    const world = new EngineWorldForTests();
    world.discover('a');
    world.discover('b');
    await world.settle();
    world.aware.occupy('a');
    world.lose('a');
    assert.deepEqual(world.aware.log.slice(2), ['a ClusterNotFound']);
    assert.throws(() => world.engine.get('a'), { code: 'ClusterNotFound' });
    await world.clock.advance(1_000);
    assert.equal(world.stateOf('a'), 'draining');
    assert.equal(world.alive('a').length, 1);
    world.aware.finish('a');
    await world.settle();
    assert.deepEqual(world.alive('a'), []);
    assert.equal(world.stateOf('a'), undefined);
    assert.equal(world.stateOf('b'), 'engaged');
    assert.equal(world.aware.engaged.get('b')!.signal.aborted, false);
    assert.equal(world.alive('b').length, 1);
    await world.stop();
  });

  test('whose work does not end is fenced and left behind', async () => {
    const world = new EngineWorldForTests({ drainTimeoutMs: 2_000 });
    world.discover('a');
    await world.settle();
    const { cluster } = world.aware.engaged.get('a')!;
    world.aware.occupy('a');
    world.lose('a');
    const map = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', isNamespaced: true };
    await cluster.client.create(map, { metadata: { namespace: 'x', name: 'x' } });
    await world.clock.advance(2_000);
    assert.deepEqual(world.alive(), []);
    await assert.rejects(cluster.client.create(map, { metadata: { namespace: 'x', name: 'x' } }), { code: 'Fenced' });
    world.aware.finish('a');
    await world.stop();
  });

  test('whose connections do not close is left behind: the engine ends all the same', async () => {
    const world = new EngineWorldForTests();
    world.discover('a');
    await world.settle();
    world.instances[0]!.cluster.client.close = () => new Promise(() => {});
    await world.stop();
    assert.equal(world.instances[0]!.isStopped, true);
  });

  test('while it is opened is given up, and what comes of it is stopped', async () => {
    for (const behaviour of ['hangs', 'hangs for ever', 'never syncs', 'opens'] as const) {
      const world = new EngineWorldForTests();
      world.behaviours.set('a', behaviour);
      world.discover('a');
      if (behaviour !== 'opens') await world.clock.advance(50);
      else await Promise.resolve();
      world.lose('a');
      await world.settle();
      assert.deepEqual([world.alive(), world.aware.log, world.engine.status()], [[], [], []], behaviour);
      await world.stop();
    }
  });

  test('and comes again while it is drained is opened anew, after that', async () => {
    const world = new EngineWorldForTests();
    world.discover('a');
    await world.settle();
    world.aware.occupy('a');
    world.lose('a');
    await world.clock.advance(100);
    world.discover('a');
    await world.clock.advance(100);
    assert.equal(world.attempts.length, 1);
    assert.throws(() => world.engine.get('a'), { code: 'EngageFailed' });
    world.aware.finish('a');
    await world.settle();
    assert.deepEqual(world.aware.log, ['a engaged', 'a ClusterNotFound', 'a drained', 'a engaged']);
    assert.equal(world.alive().length, 1);
    await world.stop();
  });

  test('at any moment, with whatever happens at once, leaves nothing', async () => {
    for (let seed = 1; seed <= 200; seed++) {
      const world = new EngineWorldForTests({ debounceMs: 20, drainTimeoutMs: 200, engageTimeoutMs: 100 }, seed);
      const behaviours = ['opens', 'opens', 'fails', 'hangs', 'never syncs', 'hangs for ever'] as const;
      const { below } = seededRandom(seed);
      for (let step = 0; step < 60; step++) {
        const name = `c${below(3)}`;
        world.behaviours.set(name, behaviours[below(behaviours.length)]!);
        if (below(5) < 3) world.discover(name, String(below(4)));
        else world.lose(name);
        if (below(3) > 0) await world.clock.advance(below(60));
        else for (let turns = below(6); turns > 0; turns--) await Promise.resolve();
        if (below(11) === 0) world.alive()[0]?.fail(new Error('broke'));
      }
      assert.ok(!world.aware.log.some((line) => line.endsWith('TWICE')), `seed ${seed}`);
      for (const name of ['c0', 'c1', 'c2']) world.lose(name);
      await world.clock.advance(1_000);
      assert.deepEqual([world.engine.status(), world.alive().length], [[], 0], `seed ${seed}`);
      assert.equal(world.clock.timers, 0, `seed ${seed}`);
      await world.stop();
    }
  });

  test('and found a thousand times takes no memory with it', async () => {
    const world = new EngineWorldForTests();
    const round = async (): Promise<void> => {
      world.discover('a');
      await world.settle();
      world.lose('a');
      await world.settle();
      assert.deepEqual(world.engine.status(), []);
      assert.ok(world.instances.every((one) => one.isOver));
      world.instances.length = world.attempts.length = world.aware.log.length = 0;
    };
    setFlagsFromString('--expose-gc');
    const collectOnce = runInNewContext('gc') as () => void;
    // Signals are released one turn after they were found to be garbage.
    const collect = async (): Promise<void> => {
      for (let turn = 0; turn < 4; turn++) {
        collectOnce();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    for (let at = 0; at < 200; at++) await round();
    await collect();
    const before = process.memoryUsage().heapUsed;
    for (let at = 0; at < 1_000; at++) await round();
    await collect();
    const grownBytes = process.memoryUsage().heapUsed - before;
    assert.ok(grownBytes < 200_000, `${grownBytes} bytes`);
    assert.equal(world.clock.timers, 0);
    await world.stop();
  });
});
