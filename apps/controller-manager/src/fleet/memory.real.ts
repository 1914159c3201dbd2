import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachAtOnce, seededRandom, systemClock } from '@hangar/core';
import { registrationFleet } from './registration-fleet.ts';
import { Heard } from './testing/heard.ts';
import { settledHeapBytes } from './testing/heap.ts';
import { register, resolve, startManagementWorld } from './testing/management.ts';
import type { ManagementWorld } from './testing/management.ts';

const count = 1_000;
const bytesMax = 1_536;

test(`each of ${count} idle clusters takes at most ${bytesMax} bytes of the fleet`, async () => {
  await using world = await startManagementWorld();
  const names = Array.from({ length: count }, (_, at) => `team-${at}-production`);
  await eachAtOnce(8, names, async (name) => {
    await register(world.client, name, {
      services: ['controllers', 'scheduler'],
      labels: { tier: 'gold', team: name },
    });
    const secret = { namespace: `kplane-cp-${name}`, name: `controlplane-${name}-kubeconfig` };
    await resolve(world.client, name, secret, `https://api.example.com/clusters/${name}/control-plane`);
  });
  // Fills the caches of the server for lists and watches before the measurement.
  await (await followed(world))[Symbol.asyncDispose]();
  const before = await settledHeapBytes();
  await using heard = await followed(world);
  const bytes = Math.round(((await settledHeapBytes()) - before) / count);
  assert.equal(heard.clusters.size, count);
  assert.ok(bytes <= bytesMax, `${bytes} bytes`);
  assert.ok(bytes > 100, `${bytes} bytes: nothing was measured`);
});

async function followed(world: ManagementWorld): Promise<Heard> {
  const { watched: management, log, faults } = world;
  const heard = new Heard(registrationFleet({ management, log, clock: systemClock, random: seededRandom(1) }));
  await heard.until(() => heard.isSynced);
  faults.forget();
  return heard;
}
