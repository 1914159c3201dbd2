import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Job } from '@hangar/client/kinds/batch-v1';
import { startTestFleet, virtualClock } from '@hangar/testkit';
import type { VirtualClock } from '@hangar/testkit';
import { countedClients } from '../testing/counted-clients.ts';
import { runControllers } from '../testing/run-controllers.ts';
import { TtlAfterFinishedController } from './ttl-after-finished.ts';

const namespace = 'default';
const template = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'a', image: 'a' }] } };

const job = (name: string, ttlSecondsAfterFinished?: number) => ({
  metadata: { namespace, name },
  spec: { template, ...(ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished }) },
});

const timeOf = (clock: VirtualClock): string => `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;

async function finish(client: Client, clock: VirtualClock, name: string, type = 'Complete'): Promise<void> {
  const live = await client.get(Job, { namespace, name });
  const time = timeOf(clock);
  const reached = { Complete: 'SuccessCriteriaMet', Failed: 'FailureTarget' }[type]!;
  await client.status.update(Job, {
    ...live,
    status: {
      startTime: time,
      ...(type === 'Complete' ? { completionTime: time } : {}),
      conditions: [
        { type: reached, status: 'True', lastTransitionTime: time },
        { type, status: 'True', lastTransitionTime: time },
      ] as never,
    },
  });
}

const isThere = async (client: Client, name: string): Promise<boolean> =>
  (await find(client, Job, { namespace, name }))?.metadata.deletionTimestamp === undefined &&
  (await find(client, Job, { namespace, name })) !== undefined;

test('jobs go when their time is over, not before, and only those that have ended and have one', async () => {
  const clock = virtualClock();
  await using fleet = await startTestFleet({ clusters: ['red'], clock });
  const { clientOf, requests } = countedClients(fleet);
  await using running = runControllers(fleet, {
    clock,
    clientOf,
    controllers: (world) => [new TtlAfterFinishedController(world)],
  });
  await clock.run(running.synced);
  const red = fleet.clientOf('red');
  for (const one of [job('done', 100), job('failed', 100), job('runs', 0), job('kept'), job('now', 0)]) {
    await clock.run(red.create(Job, one));
  }
  await clock.run(finish(red, clock, 'done'));
  await clock.run(finish(red, clock, 'failed', 'Failed'));
  await clock.run(finish(red, clock, 'kept'));
  await clock.run(finish(red, clock, 'now'));
  await clock.until(async () => !(await isThere(red, 'now')));
  const before = requests.length;
  await clock.advance(95_000);
  assert.deepEqual(requests.slice(before), [], 'nothing is asked while they wait');
  assert.ok(await clock.run(isThere(red, 'done')));
  await clock.advance(6_000);
  for (const name of ['done', 'failed']) await clock.until(async () => !(await isThere(red, name)));
  for (const name of ['runs', 'kept']) assert.ok(await clock.run(isThere(red, name)), name);
  // Its dependents are deleted first, by the garbage collector.
  const going = await clock.run(red.get(Job, { namespace, name: 'done' }));
  assert.deepEqual(going.metadata.finalizers, ['foregroundDeletion']);
  await clock.run(running.stop());
});

test('a time that is made longer at the last moment counts, also after a restart', async () => {
  const clock = virtualClock();
  await using fleet = await startTestFleet({ clusters: ['red'], clock });
  const red = fleet.clientOf('red');
  const start = () => runControllers(fleet, { clock, controllers: (world) => [new TtlAfterFinishedController(world)] });
  const first = start();
  await clock.run(red.create(Job, job('done', 100)));
  await clock.run(finish(red, clock, 'done'));
  await clock.advance(50_000);
  const body = { spec: { ttlSecondsAfterFinished: 1_000 } };
  await clock.run(red.patch(Job, { namespace, name: 'done' }, { type: 'merge', body }));
  await clock.advance(200_000);
  assert.ok(await clock.run(isThere(red, 'done')));
  await clock.run(first.stop());
  const second = start();
  await clock.run(second.synced);
  await clock.advance(700_000);
  assert.ok(await clock.run(isThere(red, 'done')));
  await clock.advance(60_000);
  await clock.until(async () => !(await isThere(red, 'done')));
  await clock.run(second.stop());
});
