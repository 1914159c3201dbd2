import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { chance, Logger, pick, seededRandom, systemClock } from '@hangar/core';
import { soleOwner } from '@hangar/runtime/clusters';
import type { Coordinator } from '@hangar/runtime/clusters';
import type { FleetCluster, Service } from '../contract.ts';
import { Registry } from './registry.ts';
import { clusterOf, HandCoordinator, RecordingEngine, ToldConditions, ToldFleet } from './testing/doubles.ts';

const log = new Logger({ level: 'error', format: 'text', clock: systemClock, write: () => {} });

class World {
  readonly engine = new RecordingEngine();
  readonly fleet = new ToldFleet();
  readonly conditions = new ToldConditions();
  readonly registry: Registry;
  readonly #ended = new AbortController();
  readonly #running: Promise<void>;

  constructor(coordinator: Coordinator) {
    const { engine, fleet, conditions } = this;
    this.registry = new Registry({ fleet, coordinator, conditions, engineFor: () => engine, log });
    this.#running = this.registry.run(this.#ended.signal);
  }

  get running(): string[] {
    return [...this.engine.running.keys()].sort();
  }

  async stop(): Promise<void> {
    this.engine.isSlow = false;
    this.engine.endAll();
    this.#ended.abort();
    await this.#running;
  }
}

const settled = async (): Promise<void> => {
  for (let turns = 0; turns < 20; turns++) await turn();
};

describe('the registry of a process that is alone', () => {
  let world: World;
  beforeEach(() => void (world = new World(soleOwner)));
  afterEach(() => world.stop());

  test('runs each service that a cluster is registered for, and says so', async () => {
    world.fleet.listener.changed(clusterOf('red', ['controllers', 'scheduler']));
    world.fleet.listener.changed(clusterOf('blue'));
    await settled();
    assert.deepEqual(world.running, ['blue/controllers', 'red/controllers', 'red/scheduler']);
    assert.equal(world.conditions.told.get('uid-red/scheduler'), 'Starting');
  });

  test('starts nothing before the condition is written', async () => {
    const written = Promise.withResolvers<void>();
    world.conditions.writing = written.promise;
    world.fleet.listener.changed(clusterOf('red'));
    await settled();
    assert.deepEqual(world.running, []);
    assert.equal(world.conditions.told.get('uid-red/controllers'), 'Starting');
    written.resolve();
    await settled();
    assert.deepEqual(world.running, ['red/controllers']);
  });

  test('a cluster that goes before its condition is written is never started', async () => {
    const written = Promise.withResolvers<void>();
    world.conditions.writing = written.promise;
    world.fleet.listener.changed(clusterOf('red'));
    world.fleet.listener.gone('red');
    written.resolve();
    await settled();
    assert.deepEqual(world.engine.begun, []);
    assert.deepEqual([...world.registry.rows()], []);
  });

  test('a service that is no longer asked for ends, then its condition goes', async () => {
    world.fleet.listener.changed(clusterOf('red', ['controllers', 'scheduler']));
    await settled();
    world.engine.isSlow = true;
    world.fleet.listener.changed(clusterOf('red', ['controllers']));
    await settled();
    assert.equal(world.conditions.told.has('uid-red/scheduler'), true, 'while it still runs');
    world.engine.endAll();
    await settled();
    assert.deepEqual([...world.conditions.told.keys()], ['uid-red/controllers']);
    assert.deepEqual(world.running, ['red/controllers']);
  });

  test('asked for again while it ends: one after the other, and the condition stays', async () => {
    world.fleet.listener.changed(clusterOf('red', ['controllers', 'scheduler']));
    await settled();
    world.engine.isSlow = true;
    world.fleet.listener.changed(clusterOf('red', ['controllers']));
    world.fleet.listener.changed(clusterOf('red', ['controllers', 'scheduler']));
    await settled();
    world.engine.isSlow = false;
    world.engine.endAll();
    await settled();
    assert.deepEqual(world.running, ['red/controllers', 'red/scheduler']);
    assert.equal(world.conditions.told.has('uid-red/scheduler'), true);
    assert.deepEqual(world.engine.violations, []);
  });

  test('a registration that was made anew begins anew, after the old one has ended', async () => {
    world.fleet.listener.changed(clusterOf('red', ['controllers'], 'first'));
    await settled();
    world.engine.isSlow = true;
    world.fleet.listener.gone('red');
    world.fleet.listener.changed(clusterOf('red', ['controllers'], 'second'));
    await settled();
    assert.equal(world.engine.begun.length, 1);
    world.engine.endAll();
    await settled();
    assert.equal(world.engine.begun.length, 2);
    assert.deepEqual([...world.conditions.told.keys()], ['second/controllers']);
    assert.deepEqual(world.engine.violations, []);
  });

  test('a registration that names another control plane keeps its condition, whichever ends or begins first', async () => {
    world.fleet.listener.changed(clusterOf('red', ['controllers'], 'moved'));
    await settled();
    world.engine.isSlow = true;
    world.fleet.listener.gone('red');
    world.fleet.listener.changed(clusterOf('blue', ['controllers'], 'moved'));
    await settled();
    world.engine.endAll();
    await settled();
    assert.deepEqual(world.running, ['blue/controllers']);
    assert.deepEqual([...world.conditions.told.keys()], ['moved/controllers']);
  });

  test('another address is told to what runs, and starts nothing', async () => {
    world.fleet.listener.changed(clusterOf('red'));
    await settled();
    world.fleet.listener.changed({ ...clusterOf('red'), address: 'https://elsewhere:6443' });
    await settled();
    assert.equal(world.engine.running.get('red/controllers')?.cluster.address, 'https://elsewhere:6443');
    assert.equal(world.engine.begun.length, 1);
  });
});

describe('the registry of one of several processes', () => {
  let world: World;
  let coordinator: HandCoordinator;
  beforeEach(() => void (world = new World((coordinator = new HandCoordinator()))));
  afterEach(() => world.stop());

  test('runs nothing of a cluster that is not its own, and gives one back at rest, with its condition', async () => {
    world.fleet.listener.changed(clusterOf('red'));
    await settled();
    assert.deepEqual(world.running, []);
    coordinator.give('red');
    await settled();
    assert.deepEqual(world.running, ['red/controllers']);
    world.engine.isSlow = true;
    let isTaken = false;
    const taken = coordinator.take('red').then(() => (isTaken = true));
    await settled();
    assert.equal(isTaken, false, 'while it still runs');
    world.engine.endAll();
    await taken;
    assert.deepEqual(world.running, []);
    assert.equal(world.conditions.told.has('uid-red/controllers'), true);
  });

  test('whatever happens in whatever order: never two, never without a right, and what is wanted runs in the end', async () => {
    for (let seed = 0; seed < 300; seed++) {
      const random = seededRandom(seed);
      const hand = new HandCoordinator();
      const one = new World(hand);
      const wanted = new Map<string, FleetCluster>();
      const names = ['red', 'green', 'blue'];
      for (let step = 0; step < 80; step++) {
        const name = pick(random, names);
        const asked = (['controllers', 'scheduler'] as Service[]).filter(() => chance(random, 0.6));
        const steps = [
          () => {
            const cluster = clusterOf(name, asked, `${name}-${random.below(2)}`);
            wanted.set(name, cluster);
            one.fleet.listener.changed(cluster);
          },
          () => {
            wanted.delete(name);
            one.fleet.listener.gone(name);
          },
          () => hand.give(name),
          () => void hand.take(name),
          () => void (one.engine.isSlow = chance(random, 0.5)),
          () => one.engine.endAll(),
          () => turn(),
        ];
        await pick(random, steps)();
      }
      one.engine.isSlow = false;
      for (let round = 0; round < 4; round++) {
        one.engine.endAll();
        await settled();
        for (const name of names) hand.give(name);
      }
      await settled();
      const expected = [...wanted.values()].flatMap(({ name, services }) => [...services].map((is) => `${name}/${is}`));
      assert.deepEqual(one.running, expected.sort(), `seed ${seed}`);
      assert.deepEqual(one.engine.violations, [], `seed ${seed}`);
      await one.stop();
      assert.deepEqual(one.running, [], `seed ${seed}`);
    }
  });
});
