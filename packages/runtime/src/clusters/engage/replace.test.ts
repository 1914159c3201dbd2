import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EngineWorldForTests } from './testing/engine-world.ts';

describe('a config that changes', () => {
  test('opens the new cluster first, then drains the old, then engages the new; work stays queued', async () => {
    const world = new EngineWorldForTests();
    world.discover('a', '1');
    await world.settle();
    world.aware.occupy('a');
    world.discover('a', '2');
    await world.clock.advance(1_000);
    assert.deepEqual(world.aware.log, ['a engaged', 'a ClusterReplaced']);
    assert.deepEqual(
      world.instances.map(({ isStarted, isStopped }) => [isStarted, isStopped]),
      [
        [true, false],
        [true, false],
      ],
    );
    assert.equal(world.stateOf('a'), 'engaged');
    assert.equal(world.engine.get('a').cache, world.instances[1]!.cluster.cache);
    world.aware.finish('a');
    await world.settle();
    assert.deepEqual(world.aware.log, ['a engaged', 'a ClusterReplaced', 'a drained', 'a engaged']);
    assert.deepEqual(
      world.alive().map(({ fingerprint }) => fingerprint),
      ['2'],
    );
    await world.stop();
  });

  test('to one that cannot be opened keeps the old, and says so', async () => {
    const world = new EngineWorldForTests();
    world.discover('a', '1');
    await world.settle();
    world.behaviours.set('a', 'fails');
    world.discover('a', '2');
    await world.clock.advance(60_000);
    assert.deepEqual(world.aware.log, ['a engaged']);
    const [status] = world.engine.status();
    assert.deepEqual([status!.state, status!.lastError], ['engaged', 'no route']);
    // Back to the running config.
    world.discover('a', '1');
    await world.clock.advance(3_600_000);
    assert.deepEqual(world.engine.status(), [{ name: 'a', state: 'engaged', failures: 0 }]);
    assert.equal(world.aware.log.length, 1);
    world.behaviours.clear();
    world.discover('a', '3');
    await world.clock.advance(1_000);
    assert.deepEqual(
      world.alive().map(({ fingerprint }) => fingerprint),
      ['3'],
    );
    await world.stop();
  });

  test('many times in a moment is opened once; without an end, now and then', async () => {
    const world = new EngineWorldForTests();
    world.discover('a', '0');
    await world.settle();
    for (let at = 1; at <= 5; at++) {
      world.discover('a', String(at));
      await world.clock.advance(300);
    }
    await world.clock.advance(2_000);
    assert.deepEqual(
      world.instances.map(({ fingerprint }) => fingerprint),
      ['0', '5'],
    );
    for (let at = 6; at < 206; at++) {
      world.discover('a', String(at));
      await world.clock.advance(300);
    }
    const opened = world.instances.length - 2;
    assert.ok(opened >= 8 && opened <= 16, String(opened));
    await world.stop();
  });

  test('while it hangs does not wait for the old one', async () => {
    const world = new EngineWorldForTests();
    world.behaviours.set('a', 'hangs');
    world.discover('a', '1');
    await world.clock.advance(5_000);
    world.behaviours.clear();
    world.discover('a', '2');
    await world.clock.advance(1_000);
    assert.equal(world.stateOf('a'), 'engaged');
    await world.stop();
  });

  test('again while the old one is drained is replaced again, and no work is dropped', async () => {
    const world = new EngineWorldForTests();
    world.discover('a', '1');
    await world.settle();
    world.aware.occupy('a');
    world.discover('a', '2');
    await world.clock.advance(1_000);
    world.discover('a', '3');
    await world.clock.advance(1_000);
    world.aware.finish('a');
    await world.clock.advance(1_000);
    const replaced = ['a engaged', 'a ClusterReplaced', 'a drained'];
    assert.deepEqual(world.aware.log, [...replaced, ...replaced, 'a engaged']);
    assert.deepEqual(
      world.alive().map(({ fingerprint }) => fingerprint),
      ['3'],
    );
    await world.stop();
  });

  test('and lost while the old one is drained drops the work and stops both', async () => {
    const world = new EngineWorldForTests();
    world.discover('a', '1');
    await world.settle();
    world.aware.occupy('a');
    world.discover('a', '2');
    await world.clock.advance(1_000);
    world.lose('a');
    // Another cluster of the same name: the opened instance does not belong to it.
    world.discover('a', '9');
    world.aware.finish('a');
    await world.settle();
    assert.deepEqual(world.aware.log, ['a engaged', 'a ClusterReplaced', 'a abandoned', 'a drained', 'a engaged']);
    assert.deepEqual(
      world.alive().map(({ fingerprint }) => fingerprint),
      ['9'],
    );
    await world.stop();
  });
});
