/** Many clusters in one engine: what they share, and what they must not. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endOf, readyIn, serverOf } from './testing/served.ts';
import { kubeconfigFor, World } from './testing/world.ts';
import type { Served } from './testing/world.ts';

function serveMany(world: World, count: number, prefix = 'c'): Served[] {
  return Array.from({ length: count }, (_, at) => {
    const served = world.serve(`${prefix}${at}`);
    world.secrets.put(served.secret, kubeconfigFor(serverOf(served.name)));
    return served;
  });
}

test('a hundred clusters at once come up a few at a time, and all of them', async () => {
  const world = new World({ startConcurrency: 4 });
  const all = serveMany(world, 100);
  for (const served of all) await served.until('Ready', 200_000);
  assert.equal(world.programs.bootingMax, 4);
  const tookMs = world.clock.monotonicMs();
  assert.ok(tookMs < 100_000, `${tookMs} ms`);
  await endOf(world, ...all);
});

test('programs that hang on their way up hold their slots for fifteen seconds at most', async () => {
  const world = new World({ startConcurrency: 2 });
  world.programs.behaviour.bootMs = Infinity;
  const hanging = serveMany(world, 2, 'hanging');
  await world.clock.advance(1_000);
  world.programs.behaviour.bootMs = 100;
  const served = world.serve('well');
  world.secrets.put(served.secret, kubeconfigFor(serverOf('well')));
  await served.until('Ready', 16_000);
  await endOf(world, served, ...hanging);
});

test('crash loops of many delay nobody: neither a first start nor one that crashed once', async () => {
  const world = new World({ startConcurrency: 4 });
  const well = await readyIn(world, 'well');
  await world.clock.advance(11 * 60_000);
  world.programs.behaviour.bootMs = Infinity;
  world.programs.behaviour.livesMs = 14_000;
  const looping = serveMany(world, 40, 'looping');
  await world.clock.advance(5 * 60_000);
  world.programs.behaviour.bootMs = 2_500;
  world.programs.behaviour.livesMs = undefined;
  const fresh = world.serve('fresh');
  world.secrets.put(fresh.secret, kubeconfigFor(serverOf('fresh')));
  await fresh.until('Ready', 4_000);
  world.programs.of('well')!.exit({ signal: 'SIGKILL' });
  await world.clock.settle();
  await well.until('Ready', 5_000);
  await endOf(world, well, fresh, ...looping);
});

test('kubeconfigs of all rotated at once: each runs on until it is its turn', async () => {
  const world = new World({ startConcurrency: 2 });
  const all = serveMany(world, 20);
  for (const served of all) await served.until('Ready', 200_000);
  await world.clock.advance(120_000);
  for (const { secret, name } of all) world.secrets.put(secret, kubeconfigFor(serverOf(name), 'new'));
  for (let at = 0; at < 40; at++) {
    await world.clock.advance(1_000);
    const away = all.filter(({ name }) => !world.programs.of(name)?.isUp).length;
    assert.ok(away <= 3, `${away} are away at a time`);
  }
  for (const served of all) await served.until('Ready');
  assert.equal(world.programs.all.length, 40);
  await endOf(world, ...all);
});

test('both services of one cluster are apart', async () => {
  const world = new World();
  const [controllers, scheduler] = [world.serve('a'), world.serve('a', 'scheduler')];
  world.secrets.put(controllers.secret, kubeconfigFor(serverOf('a')));
  await controllers.until('Ready');
  await scheduler.until('Ready');
  const argv0 = [...world.programs.running.values()].map(({ options }) => options.argv0).sort();
  assert.deepEqual(argv0, ['hangar-controller-manager.one', 'hangar-scheduler.one']);
  await world.clock.run(scheduler.serving.stop());
  await world.clock.advance(60_000);
  assert.equal(controllers.phase, 'Ready/Running');
  await endOf(world, controllers);
});

test('no word of what is told, or written in the log, is a credential', async () => {
  const world = new World();
  const served = await readyIn(world);
  world.answers.set(serverOf('a'), 401);
  await served.until('Waiting');
  world.secrets.put(served.secret, undefined);
  world.programs.of('a')!.exit({ code: 1 });
  await served.until('Waiting/KubeconfigPending');
  await endOf(world, served);
  assert.ok(!JSON.stringify([served.states, world.lines]).includes('secret-token'));
});
