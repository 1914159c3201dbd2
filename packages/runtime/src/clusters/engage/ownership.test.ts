import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EngineWorldForTests } from './testing/engine-world.ts';
import { TestCoordinator } from './testing/test-coordinator.ts';

describe('ownership', () => {
  test('comes before anything is opened, and its end is a clean hand-over', async () => {
    const coordinator = new TestCoordinator();
    const world = new EngineWorldForTests({ coordinator });
    world.discover('a');
    await world.clock.advance(1_000);
    assert.equal(world.stateOf('a'), 'unowned');
    assert.equal(world.attempts.length, 0);
    assert.throws(() => world.engine.get('a'), { code: 'ClusterNotOwned' });
    coordinator.give('a');
    await world.settle();
    assert.equal(world.stateOf('a'), 'engaged');
    world.aware.occupy('a');
    let isReleased = false;
    const releasing = coordinator.take('a').then(() => (isReleased = true));
    assert.equal(world.aware.log.at(-1), 'a ClusterNotOwned');
    assert.throws(() => world.engine.get('a'), { code: 'ClusterNotOwned' });
    // Longer than the timeout of the engine: another process must not start before.
    await world.clock.advance(60_000);
    assert.equal(isReleased, false);
    world.aware.finish('a');
    await releasing;
    await world.settle();
    assert.deepEqual([world.stateOf('a'), world.alive()], ['unowned', []]);
    coordinator.give('a');
    await world.settle();
    assert.equal(world.stateOf('a'), 'engaged');
    await world.stop();
    assert.equal(coordinator.claims.size, 0);
  });

  test('that ends and comes again while work drains begins anew', async () => {
    const coordinator = new TestCoordinator();
    const world = new EngineWorldForTests({ coordinator });
    world.discover('a');
    coordinator.give('a');
    await world.settle();
    world.aware.occupy('a');
    void coordinator.take('a');
    coordinator.give('a');
    await world.clock.advance(10);
    assert.equal(world.attempts.length, 1);
    world.aware.finish('a');
    await world.settle();
    assert.deepEqual(world.aware.log, ['a engaged', 'a ClusterNotOwned', 'a drained', 'a engaged']);
    await world.stop();
  });

  test('that can no longer be proven is none, before its signal has fired', async () => {
    const coordinator = new TestCoordinator();
    const world = new EngineWorldForTests({ coordinator });
    world.discover('a');
    coordinator.give('a');
    await world.settle();
    coordinator.leftMs = 0;
    assert.throws(() => world.engine.get('a'), { code: 'ClusterNotOwned' });
    await world.stop();
  });

  test('is asked about again when labels change, and nothing is restarted if they do not matter', async () => {
    const changes: string[] = [];
    const coordinator = Object.assign(new TestCoordinator(), {
      changed: ({ name }: { name: string }) => void changes.push(name),
    });
    const world = new EngineWorldForTests({ coordinator });
    world.discover('a', '1', { labels: { shard: 'x' } });
    coordinator.give('a');
    await world.settle();
    world.discover('a', '1', { labels: { shard: 'x' } });
    assert.deepEqual(changes, []);
    world.discover('a', '1', { labels: { shard: 'y' } });
    await world.clock.advance(5_000);
    assert.deepEqual(changes, ['a']);
    assert.deepEqual(world.aware.log, ['a engaged']);
    await world.stop();
  });

  test('is given back and asked for anew when labels change that may matter', async () => {
    const coordinator = new TestCoordinator();
    const world = new EngineWorldForTests({ coordinator });
    world.discover('a', '1', { labels: { shard: 'x' } });
    coordinator.give('a');
    await world.settle();
    const before = coordinator.claims.get('a');
    world.discover('a', '1', { labels: { shard: 'y' } });
    await world.settle();
    assert.notEqual(coordinator.claims.get('a'), before);
    assert.deepEqual(world.aware.log, ['a engaged', 'a ClusterNotOwned', 'a drained']);
    assert.deepEqual([world.stateOf('a'), world.alive()], ['unowned', []]);
    coordinator.give('a');
    await world.settle();
    assert.equal(world.stateOf('a'), 'engaged');
    await world.stop();
  });
});
