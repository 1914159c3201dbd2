import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Condition } from '@hangar/client/kinds/meta-v1';
import { ControlPlaneEndpoint, ControlPlaneRegistration } from '@hangar/runtime/clusters';
import type { SourceObject } from '../contract.ts';
import { conditionsOf, failing, ready, said, source, starting, startWriter } from './testing/writer-world.ts';
import { stateOf, untilSaid, writesOf } from './testing/writer-world.ts';
import type { World } from './testing/writer-world.ts';

/** As the operator writes a status: the whole list, of what it has seen. */
async function operatorWrites({ client }: World, name: string, status: 'True' | 'False'): Promise<void> {
  const { metadata, status: seen } = await client.get(ControlPlaneRegistration, { name });
  const others = ((seen?.conditions ?? []) as Condition[]).filter(({ type }) => type !== 'Ready');
  const own = { type: 'Ready', status, reason: 'X', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const body = { metadata: { resourceVersion: metadata.resourceVersion }, status: { conditions: [own, ...others] } };
  await client.status.patch(ControlPlaneRegistration, { name }, { type: 'merge', body }, { fieldManager: 'operator' });
}

describe('conditions', () => {
  test('are written before anybody goes on, and the first good news at once', async () => {
    await using world = await startWriter();
    const { writer, clock } = world;
    const a = await source(world, 'a');
    writer.tell(a, 'controllers', starting);
    const beganMs = clock.monotonicMs();
    await writer.written(a, 'controllers');
    assert.deepEqual(await said(world, 'a'), ['ControllersReady=False Starting']);
    writer.tell(a, 'controllers', ready);
    await clock.settle();
    assert.deepEqual(await said(world, 'a'), ['ControllersReady=True Ready']);
    assert.equal(clock.monotonicMs(), beganMs);
    await writer.written(a, 'controllers');
  });

  test("of two services do not touch each other, nor the operator's own, in whatever order", async () => {
    await using world = await startWriter();
    const { writer } = world;
    const a = await source(world, 'a', ['controllers', 'scheduler']);
    await operatorWrites(world, 'a', 'False');
    writer.tell(a, 'controllers', ready);
    await untilSaid(world, 'a', 'ControllersReady=True Ready', 'Ready=False X');
    writer.tell(a, 'scheduler', starting);
    await untilSaid(world, 'a', 'ControllersReady=True Ready', 'Ready=False X', 'SchedulerReady=False Starting');
    await operatorWrites(world, 'a', 'True');
    writer.tell(a, 'controllers', failing);
    await untilSaid(world, 'a', 'ControllersReady=False BackingOff', 'Ready=True X', 'SchedulerReady=False Starting');
    writer.remove(a, 'controllers');
    await untilSaid(world, 'a', 'Ready=True X', 'SchedulerReady=False Starting');
    writer.remove(a, 'scheduler');
    await untilSaid(world, 'a', 'Ready=True X');
    const { metadata } = await world.client.get(ControlPlaneRegistration, { name: 'a' });
    const managers = metadata.managedFields!.map(({ manager }) => manager!);
    assert.deepEqual(
      managers.filter((manager) => manager.startsWith('hangar-controller-manager')),
      [],
    );
  });

  test('are also those of endpoints', async () => {
    await using world = await startWriter();
    const { metadata } = await world.client.create(ControlPlaneEndpoint, {
      metadata: { name: 'e' },
      spec: { endpoint: 'https://e' },
    });
    const e: SourceObject = { kind: 'ControlPlaneEndpoint', name: 'e', uid: metadata.uid! };
    world.writer.tell(e, 'controllers', ready);
    await world.writer.written(e, 'controllers');
    const { status } = await world.client.get(ControlPlaneEndpoint, { name: 'e' });
    assert.deepEqual(
      status?.conditions?.map(({ type }) => type),
      ['ControllersReady'],
    );
  });

  test('move their time only with their status', async () => {
    await using world = await startWriter();
    const { writer, clock } = world;
    const a = await source(world, 'a');
    const times: string[] = [];
    for (const state of [starting, stateOf('Waiting'), ready, stateOf('Ready', 'and well'), failing]) {
      writer.tell(a, 'controllers', state);
      await clock.advance(60_000);
      times.push((await conditionsOf(world, 'a'))[0]!.lastTransitionTime);
    }
    const [one, same, other, still, last] = times;
    assert.equal(one, same);
    assert.equal(other, still);
    assert.equal(new Set([one, other, last]).size, 3);
  });

  test('are not written when nothing is another, also by a process that begins anew', async () => {
    await using world = await startWriter();
    const { clock } = world;
    const a = await source(world, 'a');
    world.writer.tell(a, 'controllers', ready);
    await world.writer.written(a, 'controllers');
    world.faults.forget();
    world.writer.tell(a, 'controllers', { ...ready, restarts: 7 });
    await clock.advance(60_000);
    assert.deepEqual(world.faults.requests, []);
    const next = await world.restart();
    next.tell(a, 'controllers', starting);
    await next.written(a, 'controllers');
    assert.equal(writesOf(world), 0, 'a condition is there, whatever it says');
    await clock.advance(3_000);
    next.tell(a, 'controllers', ready);
    await clock.advance(600_000);
    assert.equal(writesOf(world), 0);
    assert.equal(world.faults.requests.length, 1, 'it was asked for once');
  });

  test('say after a while what a process that begins anew does not get done', async () => {
    await using world = await startWriter();
    const a = await source(world, 'a');
    world.writer.tell(a, 'controllers', ready);
    await world.writer.written(a, 'controllers');
    const next = await world.restart();
    next.tell(a, 'controllers', starting);
    await untilSaid(world, 'a', 'ControllersReady=False Starting');
    next.tell(a, 'controllers', ready);
    await world.clock.settle();
    assert.deepEqual(await said(world, 'a'), ['ControllersReady=True Ready']);
  });

  test('of what flaps are written every few seconds, and end with the last that was told', async () => {
    await using world = await startWriter();
    const { writer, clock } = world;
    const a = await source(world, 'a');
    for (let round = 0; round < 100; round++) {
      writer.tell(a, 'controllers', round % 2 === 0 ? ready : failing);
      await clock.advance(300);
    }
    const writes = writesOf(world);
    assert.ok(writes >= 3 && writes <= 9, `${writes} writes in 30 s`);
    await clock.advance(10_000);
    assert.deepEqual(await said(world, 'a'), ['ControllersReady=False BackingOff']);
  });

  test('of many objects are written a few at a time', async () => {
    await using world = await startWriter();
    const { writer, faults, clock } = world;
    const all = await Promise.all(Array.from({ length: 20 }, (_, at) => source(world, `r${at}`)));
    const hold = faults.hang();
    for (const one of all) writer.tell(one, 'controllers', starting);
    await clock.settle();
    assert.equal(hold.waiting, 4);
    hold.release();
    await Promise.all(all.map((one) => writer.written(one, 'controllers')));
    for (const { name } of all) assert.deepEqual(await said(world, name), ['ControllersReady=False Starting']);
  });

  test('with a reason that no server takes say the phase, and long messages their beginning', async () => {
    await using world = await startWriter();
    const a = await source(world, 'a');
    world.writer.tell(a, 'controllers', { ...failing, reason: 'exit code 1', message: 'x'.repeat(5_000) });
    await world.writer.written(a, 'controllers');
    const [condition] = await conditionsOf(world, 'a');
    assert.deepEqual([condition!.reason, condition!.message.length], ['BackingOff', 1_024]);
  });
});
