/** Stops a service at any moment, and revokes the ownership of its cluster. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endOf, readyIn, serverOf } from './testing/served.ts';
import { kubeconfigFor, World } from './testing/world.ts';
import type { Served } from './testing/world.ts';

const server = serverOf('a');

/** How to get into each step. */
const moments: Readonly<Record<string, (world: World) => Promise<Served>>> = {
  'at once': async (world) => world.serve('a'),
  'while it waits for a kubeconfig': async (world) => {
    const served = world.serve('a');
    await world.clock.advance(1_000);
    return served;
  },
  'while the cluster is asked': async (world) => {
    world.answers.set(server, 'hangs');
    const served = begun(world);
    await world.clock.advance(1_000);
    return served;
  },
  'while it waits for the cluster': async (world) => {
    world.answers.set(server, 'refuses');
    const served = begun(world);
    await served.until('Waiting/Unreachable');
    await world.clock.advance(100);
    return served;
  },
  'while its right is not proven': async (world) => {
    const served = world.serve('a');
    served.ownership.isProven = false;
    world.secrets.put(served.secret, kubeconfigFor(server));
    await served.until('Waiting/OwnershipNotVerified');
    return served;
  },
  'while the program is being started': async (world) => {
    world.programs.behaviour.startMs = 400;
    const served = begun(world);
    await world.clock.advance(100);
    return served;
  },
  'while the program cannot be started': async (world) => {
    world.programs.behaviour.refusal = 'no';
    world.programs.behaviour.startMs = 400;
    const served = begun(world);
    await world.clock.advance(100);
    return served;
  },
  'while the program comes up': async (world) => {
    const served = begun(world);
    await world.clock.advance(1_000);
    return served;
  },
  'while it is at work': (world) => readyIn(world),
  'while it is looked at': async (world) => {
    const served = await readyIn(world);
    world.answers.set(server, 'hangs');
    await world.clock.advance(13_000);
    return served;
  },
  'while another kubeconfig settles': async (world) => {
    const served = await readyIn(world);
    world.secrets.put(served.secret, kubeconfigFor(server, 'new'));
    await world.clock.advance(500);
    return served;
  },
  'while it is being replaced': async (world) => {
    const served = await readyIn(world);
    world.secrets.put(served.secret, kubeconfigFor(server, 'new'));
    await world.clock.advance(1_100);
    return served;
  },
  'while it waits before the next start': async (world) => {
    const served = await readyIn(world);
    world.programs.of('a')!.exit({ code: 1 });
    await served.until('BackingOff');
    return served;
  },
  'in the moment in which the program ends': async (world) => {
    const served = await readyIn(world);
    world.programs.of('a')!.exit({ code: 1 });
    return served;
  },
};

function begun(world: World): Served {
  const served = world.serve('a');
  world.secrets.put(served.secret, kubeconfigFor(server));
  return served;
}

for (const [moment, reach] of Object.entries(moments)) {
  for (const way of ['stop', 'the end of the right'] as const) {
    test(`${way}, ${moment}: nothing is left in time, and nothing is said any more`, async () => {
      const world = new World();
      world.programs.behaviour.endMs = Infinity;
      const served = await reach(world);
      const begunMs = world.clock.monotonicMs();
      if (way !== 'stop') served.ownership.controller.abort();
      const stopped = served.serving.stop();
      assert.equal(served.serving.stop(), stopped, 'idempotent');
      assert.equal(served.state.phase, 'Stopping');
      const said = served.states.length;
      await world.clock.run(stopped);
      assert.ok(world.clock.monotonicMs() - begunMs <= 2_000, `${world.clock.monotonicMs() - begunMs} ms`);
      await world.assertEmpty();
      const starts = served.starts;
      served.update({ address: 'https://late' });
      world.secrets.put(served.secret, kubeconfigFor(server, 'late'));
      await world.clock.advance(20 * 60_000);
      assert.equal(served.starts, starts);
      assert.equal(served.states.length, said);
      world.assertSound();
    });
  }
}

test('a right that ends by itself stops everything, without being told', async () => {
  const world = new World();
  const served = await readyIn(world);
  served.ownership.controller.abort();
  await world.clock.advance(2_000);
  await world.assertEmpty();
  await endOf(world, served);
});

test('a right that has ended before it began starts nothing', async () => {
  const world = new World();
  const late = new World();
  const served = await readyIn(world);
  served.ownership.controller.abort();
  late.secrets.put(served.secret, kubeconfigFor(server));
  const serving = late.engine.serve({
    cluster: { ...baseCluster, secret: served.secret },
    service: 'controllers',
    ownership: served.ownership,
    report: () => {},
  });
  await late.clock.advance(60_000);
  assert.equal(late.programs.all.length, 0);
  await late.clock.run(serving.stop());
  await late.assertEmpty();
  await endOf(world, served);
});

const baseCluster = {
  name: 'a',
  source: { kind: 'ControlPlaneRegistration', name: 'a', uid: 'u' },
  services: new Set(['controllers'] as const),
  labels: {},
  address: undefined,
} as const;

test('the program gets no longer grace than the right to its cluster lasts', async () => {
  for (const [leftMs, graceMs] of [
    [7_000, 1_500],
    [1_000, 700],
    [200, 0],
  ] as const) {
    const world = new World();
    world.programs.behaviour.endMs = Infinity;
    const served = await readyIn(world);
    const program = world.programs.of('a')!;
    served.ownership.leftMs = leftMs;
    served.ownership.controller.abort();
    await world.clock.run(served.serving.stop());
    assert.equal(program.graceMs, graceMs);
    await world.assertEmpty();
  }
});

test('a right that ends while the program is being replaced shortens the grace that it was given', async () => {
  const world = new World();
  world.programs.behaviour.endMs = Infinity;
  const served = await readyIn(world);
  world.secrets.put(served.secret, kubeconfigFor(server, 'new'));
  await world.clock.until(() => world.programs.of('a')!.graceMs !== undefined);
  const begunMs = world.clock.monotonicMs();
  served.ownership.leftMs = 500;
  served.ownership.controller.abort();
  await world.clock.run(served.serving.stop());
  assert.ok(world.clock.monotonicMs() - begunMs <= 500);
  await world.assertEmpty();
});

test('nothing is started while the right cannot be proven, and everything when it can again', async () => {
  const world = new World();
  const served = await readyIn(world);
  served.ownership.isProven = false;
  world.programs.of('a')!.exit({ cause: 'fenced', signal: 'SIGKILL' });
  await served.until('Waiting/OwnershipNotVerified');
  assert.match(served.state.message, /lease could not be renewed/);
  await world.clock.advance(60_000);
  assert.equal(served.starts, 1);
  served.ownership.isProven = true;
  await served.until('Ready', 6_000);
  assert.equal(served.state.restarts, 1);
  await endOf(world, served);
});

test('a right that is lost while the program of before ends starts no other', async () => {
  const world = new World();
  world.programs.behaviour.endMs = 1_000;
  const served = await readyIn(world);
  world.secrets.put(served.secret, kubeconfigFor(server, 'new'));
  await world.clock.advance(1_500);
  served.ownership.isProven = false;
  await world.clock.advance(60_000);
  assert.equal(served.starts, 1);
  assert.equal(served.phase, 'Waiting/OwnershipNotVerified');
  await endOf(world, served);
});
