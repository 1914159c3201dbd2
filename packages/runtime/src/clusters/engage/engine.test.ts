import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ClusterEngine } from './engine.ts';
import { EngineWorldForTests, TestAware } from './testing/engine-world.ts';
import { TestCoordinator } from './testing/test-coordinator.ts';

const many = (length: number, word: string): string[] => Array.from({ length }, (_, at) => `${word}${at}`);

describe('a cluster that is discovered', () => {
  test('is opened, started, engaged, and found by its name', async () => {
    const world = new EngineWorldForTests();
    world.discover('a');
    assert.equal(world.stateOf('a'), 'discovered');
    assert.throws(() => world.engine.get('a'), { code: 'EngageFailed' });
    await world.settle();
    assert.deepEqual(world.aware.log, ['a engaged']);
    assert.equal(world.engine.get('a').name, 'a');
    assert.equal(world.engine.get('a'), world.aware.engaged.get('a')!.cluster);
    assert.deepEqual([...world.engine.names()], ['a']);
    assert.throws(() => world.engine.get('b'), { code: 'ClusterNotFound' });
    await world.stop();
    assert.deepEqual(world.alive(), []);
  });

  test('again and unchanged stays as it is', async () => {
    const world = new EngineWorldForTests();
    for (let at = 0; at < 3; at++) {
      world.discover('a');
      await world.clock.advance(5_000);
    }
    assert.equal(world.attempts.length, 1);
    assert.deepEqual(world.aware.log, ['a engaged']);
    await world.stop();
  });

  test('without a name is none: nothing that is discovered is taken for the local one', async () => {
    const world = new EngineWorldForTests();
    world.discover('');
    world.discover('a');
    await world.settle();
    assert.deepEqual(world.aware.log, ['a engaged']);
    assert.throws(() => world.engine.get(''), { code: 'ClusterNotFound' });
    await world.stop();
  });

  test('and engaged costs no timer', async () => {
    const world = new EngineWorldForTests();
    for (const name of many(100, 'a')) world.discover(name);
    await world.clock.advance(1_000);
    assert.equal([...world.engine.names()].length, 100);
    assert.equal(world.clock.timers, 0);
    await world.stop();
    assert.equal(world.clock.timers, 0);
  });

  test('is told to controllers that come later, once', async () => {
    const world = new EngineWorldForTests();
    world.discover('a');
    await world.settle();
    const late = new TestAware();
    world.engine.addAware(late);
    world.engine.addAware(late);
    assert.deepEqual(late.log, ['a engaged']);
    await world.stop();
  });

  test('has the indexes of before and of after, without those that it refuses', async () => {
    const world = new EngineWorldForTests();
    const kind = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', isNamespaced: true };
    world.engine.addIndex(kind, 'refused', () => []);
    world.engine.addIndex(kind, 'by-node', () => []);
    world.discover('a');
    await world.settle();
    world.engine.addIndex(kind, 'by-owner', () => []);
    assert.deepEqual(world.instances[0]!.indexes, ['by-node', 'by-owner']);
    world.discover('b');
    await world.settle();
    assert.deepEqual(world.instances[1]!.indexes, ['by-node', 'by-owner']);
    await world.stop();
  });

  test('is engaged for the others when one controller throws', async () => {
    const world = new EngineWorldForTests();
    world.aware.throwsFor = 'a';
    const other = new TestAware();
    world.engine.addAware(other);
    world.discover('a');
    world.discover('b');
    await world.settle();
    assert.deepEqual(other.log, ['a engaged', 'b engaged']);
    assert.deepEqual(world.aware.log, ['b engaged']);
    assert.match(world.metrics.text(), /engage_failures_total\{provider="test"\} 1/);
    world.lose('a');
    await world.settle();
    assert.deepEqual(world.alive('a'), []);
    await world.stop();
  });
});

describe('the engine', () => {
  test('drains everything at its end, then lets go', async () => {
    const coordinator = new TestCoordinator();
    const world = new EngineWorldForTests({ coordinator });
    for (const name of ['a', 'b', 'hung']) {
      if (name === 'hung') world.behaviours.set(name, 'hangs for ever');
      world.discover(name);
      coordinator.give(name);
    }
    await world.clock.advance(10);
    world.aware.occupy('a');
    const stopping = world.stop();
    await new Promise((resolve) => setImmediate(resolve));
    world.discover('late');
    world.aware.finish('a');
    await stopping;
    assert.deepEqual([world.alive(), world.engine.status(), coordinator.claims.size], [[], [], 0]);
    assert.deepEqual(world.aware.log.slice(-2), ['b drained', 'a drained']);
  });

  test('rejects with what its provider or coordinator rejects with, after it has drained', async () => {
    const failure = new Error('no such kind');
    const never = { name: 'test', run: () => new Promise<void>(() => {}) };
    const failing = { name: 'test', run: () => Promise.reject(failure) };
    const signal = new AbortController().signal;
    await assert.rejects(new ClusterEngine({ provider: failing }).run(signal), failure);
    const coordinator = { follow: () => () => {}, run: () => Promise.reject(failure) };
    const provider = { ...never, run: (_: unknown, end: AbortSignal) => ended(end) };
    await assert.rejects(new ClusterEngine({ provider, coordinator }).run(signal), failure);
  });

  test('runs once, and refuses options that make no sense', async () => {
    const world = new EngineWorldForTests();
    await assert.rejects(world.engine.run(new AbortController().signal), { code: 'InvalidOptions' });
    await world.engine.synced();
    assert.ok(world.engine.isSynced);
    await world.stop();
    const provider = { name: 'x', run: () => Promise.resolve() };
    assert.throws(() => new ClusterEngine({ provider, openConcurrency: 0 }), { code: 'InvalidOptions' });
  });

  test('counts clusters by their state', async () => {
    const world = new EngineWorldForTests();
    world.behaviours.set('bad', 'fails').set('hung', 'hangs');
    for (const name of ['a', 'b', 'bad', 'hung']) world.discover(name);
    await world.clock.advance(10);
    const text = world.metrics.text();
    const count = (state: string) => `hangar_runtime_clusters{provider="test",state="${state}"}`;
    for (const line of [
      `${count('engaged')} 2`,
      `${count('failed')} 1`,
      `${count('opening')} 1`,
      `${count('unowned')} 0`,
    ]) {
      assert.ok(text.includes(`${line}\n`), text);
    }
    assert.match(text, /hangar_runtime_cluster_engage_duration_seconds_count\{provider="test"\} 2/);
    await world.stop();
  });
});

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
