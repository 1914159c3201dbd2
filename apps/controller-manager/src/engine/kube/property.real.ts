/**
 * Invariants under random events in random order: never two programs of one service, no start without ownership, nothing left after `stop`;
 * and when events stop and nothing is wrong, every service is ready with the last target.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chance, pick } from '@hangar/core';
import { endOf, serverOf } from './testing/served.ts';
import { kubeconfigFor, World } from './testing/world.ts';
import type { Served } from './testing/world.ts';

const seeds = 60;
const events = 60;

type Event = (world: World, served: Served) => void;

/** The last credentials, by cluster. */
const tokens = new WeakMap<Served, string>();

function rotate(world: World, served: Served): void {
  const token = `token-${world.random.below(4)}`;
  tokens.set(served, token);
  world.secrets.put(served.secret, kubeconfigFor(serverOf(served.name), token));
}

const happenings: readonly Event[] = [
  rotate,
  rotate,
  (world, { secret }) => world.secrets.put(secret, undefined),
  (world, { secret }) => world.secrets.put(secret, 'no: [kubeconfig'),
  (world, { name }) => world.programs.of(name)?.exit({ code: 1 }),
  (world, { name }) => world.programs.of(name)?.exit({ cause: 'fenced', signal: 'SIGKILL' }),
  (world, { name }) => {
    const program = world.programs.of(name);
    if (program) program.status = pick(world.random, [200, 500]);
  },
  (world, { name }) => {
    for (const server of [serverOf(name), `https://${name}-moved:6443`]) {
      world.answers.set(server, pick(world.random, [200, 200, 401, 500, 'refuses', 'hangs'] as const));
    }
  },
  (world, served) =>
    served.update({ address: pick(world.random, [undefined, `https://${served.name}-moved:6443`, 'http://not-this']) }),
  (world, served) =>
    served.update({ secret: pick(world.random, [undefined, served.secret, { namespace: 'none', name: 'none' }]) }),
  (world, { ownership }) => (ownership.isProven = chance(world.random, 0.7)),
  ({ programs: { behaviour }, random }) => {
    behaviour.startMs = pick(random, [0, 5, 900]);
    behaviour.bootMs = pick(random, [0, 2_500, 20_000, Infinity]);
    behaviour.endMs = pick(random, [0, 250, Infinity]);
    behaviour.livesMs = pick(random, [undefined, undefined, 10, 5_000]);
    behaviour.refusal = chance(random, 0.1) ? 'no space left on device' : undefined;
  },
];

/** Time to the next event: mostly short, sometimes long. */
const pauses = [0, 0, 1, 10, 300, 1_000, 1_100, 5_000, 30_000, 400_000];

/** Removes all faults. */
function calm(world: World, all: readonly Served[]): void {
  Object.assign(world.programs.behaviour, { startMs: 5, bootMs: 2_500, livesMs: undefined, refusal: undefined });
  world.answers.clear();
  for (const served of all) {
    served.ownership.isProven = true;
    served.update({ address: undefined, secret: served.secret });
    rotate(world, served);
  }
}

for (let seed = 1; seed <= seeds; seed++) {
  test(`in any order of events, seed ${seed}`, async () => {
    const world = new World({ startConcurrency: 2 }, seed);
    const all = [world.serve('a'), world.serve('b'), world.serve('c')];
    for (let count = 0; count < events; count++) {
      pick(world.random, happenings)(world, pick(world.random, all));
      await world.clock.advance(pick(world.random, pauses));
      world.assertSound();
    }
    const [lost, ...kept] = all as [Served, ...Served[]];
    if (chance(world.random, 0.5)) lost.ownership.controller.abort();
    else void lost.serving.stop();
    await world.clock.advance(world.random.below(3_000));
    calm(world, kept);
    // An earlier program may hang while it starts, and a pause may be long.
    for (const served of kept) {
      await served.until('Ready/Running', 10 * 60_000);
      await world.clock.until(() => world.programs.of(served.name)!.kubeconfig.includes(tokens.get(served)!), {
        withinMs: 15 * 60_000,
        stepMs: 1_000,
      });
    }
    await world.clock.advance(60_000);
    for (const served of kept) {
      assert.equal(served.phase, 'Ready/Running');
      assert.equal(served.state.restarts, served.starts - 1);
    }
    const starts = world.programs.all.length;
    await world.clock.advance(30 * 60_000);
    assert.equal(world.programs.all.length, starts, 'nothing happens, so nothing is restarted');
    await endOf(world, ...all);
    assert.ok(starts < 3 * events, `${starts} starts`);
  });
}
