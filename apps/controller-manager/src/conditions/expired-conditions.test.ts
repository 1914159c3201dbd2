import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Condition } from '@hangar/client/kinds/meta-v1';
import { controllerManagerLost, ControlPlaneRegistration } from '@hangar/runtime/clusters';
import {
  conditionsOf,
  ready,
  said,
  source,
  starting,
  startWriter,
  untilSaid,
  writesOf,
} from './testing/writer-world.ts';
import type { World } from './testing/writer-world.ts';

const reference = { leaseNamespace: 'kube-system', leaseGroup: 'controller-manager' };

/** As the operator does it. */
async function expire(world: World, name: string): Promise<void> {
  const conditions = (await conditionsOf(world, name)).map((one): Condition => ({
    ...one,
    status: 'Unknown',
    reason: controllerManagerLost,
  }));
  const body = { status: { conditions } };
  await world.client.status.patch(ControlPlaneRegistration, { name }, { type: 'merge', body });
}

const written = async ({ client }: World, name: string) =>
  (await client.get(ControlPlaneRegistration, { name })).status?.controllerManager;

describe('conditions of a controller manager that renews Leases', () => {
  test('name its Leases, as long as there is a condition', async () => {
    await using world = await startWriter(reference);
    const { writer, clock } = world;
    const a = await source(world, 'a', ['controllers', 'scheduler']);
    writer.tell(a, 'controllers', ready);
    writer.tell(a, 'scheduler', ready);
    await untilSaid(world, 'a', 'ControllersReady=True Ready', 'SchedulerReady=True Ready');
    assert.deepEqual(await written(world, 'a'), reference);
    writer.remove(a, 'scheduler');
    await untilSaid(world, 'a', 'ControllersReady=True Ready');
    assert.deepEqual(await written(world, 'a'), reference);
    writer.remove(a, 'controllers');
    await untilSaid(world, 'a');
    assert.equal(await written(world, 'a'), undefined);
    await clock.settle();
  });

  test('are written at once when they have expired, before anything starts', async () => {
    await using world = await startWriter(reference);
    const a = await source(world, 'a');
    world.writer.tell(a, 'controllers', ready);
    await untilSaid(world, 'a', 'ControllersReady=True Ready');
    const next = await world.restart();
    await expire(world, 'a');
    next.tell(a, 'controllers', starting);
    await next.written(a, 'controllers');
    assert.deepEqual(await said(world, 'a'), ['ControllersReady=False Starting']);
  });

  test('are written again when they expire though the process runs', async () => {
    await using world = await startWriter(reference);
    const { writer, client } = world;
    const a = await source(world, 'a');
    writer.tell(a, 'controllers', ready);
    await untilSaid(world, 'a', 'ControllersReady=True Ready');
    await expire(world, 'a');
    writer.observe(await client.get(ControlPlaneRegistration, { name: 'a' }));
    await untilSaid(world, 'a', 'ControllersReady=True Ready');
  });

  test('of another controller manager are replaced before anything starts, and its own after a restart are not', async () => {
    await using world = await startWriter(reference);
    const a = await source(world, 'a');
    world.writer.tell(a, 'controllers', ready);
    await untilSaid(world, 'a', 'ControllersReady=True Ready');
    world.faults.forget();
    const next = await world.restart();
    next.tell(a, 'controllers', ready);
    await next.written(a, 'controllers');
    assert.equal(writesOf(world), 0);
    const body = { status: { controllerManager: { ...reference, leaseGroup: 'other' } } };
    await world.client.status.patch(ControlPlaneRegistration, { name: 'a' }, { type: 'merge', body });
    const third = await world.restart();
    third.tell(a, 'controllers', starting);
    await third.written(a, 'controllers');
    assert.deepEqual(await said(world, 'a'), ['ControllersReady=False Starting']);
    assert.deepEqual(await written(world, 'a'), reference);
  });
});
