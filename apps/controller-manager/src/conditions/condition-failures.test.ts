import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ControlPlaneRegistration } from '@hangar/runtime/clusters';
import { isWrite } from '@hangar/testkit';
import { changeSpec } from '../fleet/testing/management.ts';
import { conditionsOf, failing, ready, said, source, starting, startWriter } from './testing/writer-world.ts';
import { untilSaid, writesOf } from './testing/writer-world.ts';

describe('conditions, when something is in the way,', () => {
  test('of an object that is gone, or of which another has the name, are forgotten', async () => {
    await using world = await startWriter();
    const { writer, clock, client, faults } = world;
    const [a, b] = [await source(world, 'a'), await source(world, 'b')];
    writer.tell(b, 'controllers', ready);
    await writer.written(b, 'controllers');
    for (const name of ['a', 'b']) await client.delete(ControlPlaneRegistration, { name });
    const other = await source(world, 'b');
    writer.tell(a, 'controllers', starting);
    await writer.written(a, 'controllers');
    writer.tell(b, 'controllers', failing);
    await clock.advance(60_000);
    assert.deepEqual(await said(world, 'b'), [], 'another object');
    writer.tell(other, 'controllers', ready);
    await writer.written(other, 'controllers');
    writer.tell(b, 'controllers', failing);
    await clock.advance(60_000);
    assert.deepEqual(await said(world, 'b'), ['ControllersReady=True Ready']);
    faults.forget();
    writer.remove(a, 'controllers');
    writer.remove(b, 'controllers');
    await clock.advance(60_000);
    assert.equal(writesOf(world), 0);
    assert.ok(faults.requests.length <= 2);
  });

  test('a management plane that is away keeps nobody for long, and hears everything when it is back', async () => {
    await using world = await startWriter();
    const { writer, clock, faults } = world;
    const [a, b] = [await source(world, 'a'), await source(world, 'b')];
    const hold = faults.hang();
    writer.tell(a, 'controllers', starting);
    const beganMs = clock.monotonicMs();
    await clock.run(writer.written(a, 'controllers'));
    assert.equal(clock.monotonicMs() - beganMs, 5_000);
    hold.release();
    await untilSaid(world, 'a', 'ControllersReady=False Starting');
    faults.refuseNext({ status: 503, reason: 'ServiceUnavailable' }, Infinity);
    writer.tell(b, 'controllers', starting);
    await clock.run(writer.written(b, 'controllers'));
    assert.ok(clock.monotonicMs() - beganMs < 11_000);
    writer.tell(a, 'controllers', ready);
    writer.remove(b, 'controllers');
    writer.tell(b, 'controllers', ready);
    await clock.advance(120_000);
    faults.forget();
    await clock.advance(600_000);
    assert.ok(faults.requests.length <= 40, `${faults.requests.length} requests in ten minutes`);
    assert.equal(
      world.lines.filter((line) => line.includes('failed to write a condition')).length,
      1,
      world.lines.join(''),
    );
    faults.heal();
    await untilSaid(world, 'a', 'ControllersReady=True Ready');
    await untilSaid(world, 'b', 'ControllersReady=True Ready');
  });

  test('of many objects that may not be written are one line of the log, though each refusal names its object', async () => {
    await using world = await startWriter();
    const { writer, clock, faults } = world;
    const sources = await Promise.all(['a', 'b', 'c'].map((name) => source(world, name)));
    for (const { name } of sources) {
      const isOf = (request: { readonly target: string }): boolean => request.target.includes(`/${name}/`);
      const refusal = { status: 403, reason: 'Forbidden', message: `"${name}" is forbidden` } as const;
      faults.refuseNext(refusal, Infinity, (request) => isWrite(request) && isOf(request));
    }
    for (const one of sources) writer.tell(one, 'controllers', starting);
    await clock.advance(60_000);
    assert.equal(
      world.lines.filter((line) => line.includes('failed to write a condition')).length,
      1,
      world.lines.join(''),
    );
  });

  test('that may not be written keep who waits for them, with why, until they may', async () => {
    await using world = await startWriter();
    const { writer, clock, faults } = world;
    const a = await source(world, 'a');
    faults.refuseNext({ status: 403, reason: 'Forbidden' }, Infinity, isWrite);
    writer.tell(a, 'controllers', starting);
    const refusals: string[] = [];
    let isWritten = false;
    const written = writer.written(a, 'controllers', (why) => refusals.push(why)).then(() => (isWritten = true));
    await clock.advance(600_000);
    assert.equal(isWritten, false);
    assert.match(refusals[0]!, /failed to write the condition/);
    assert.ok(writesOf(world) <= 25, `${writesOf(world)} writes in ten minutes`);
    faults.heal();
    await clock.run(written);
    assert.deepEqual(await said(world, 'a'), ['ControllersReady=False Starting']);
  });

  test('an answer that was lost is no reason to write again', async () => {
    await using world = await startWriter();
    const { writer, clock, faults } = world;
    const a = await source(world, 'a');
    faults.loseAnswers(1, isWrite);
    writer.tell(a, 'controllers', starting);
    await clock.run(writer.written(a, 'controllers'));
    await clock.advance(60_000);
    assert.equal(writesOf(world), 1);
  });

  test('removed and told again in one breath are there in the end', async () => {
    await using world = await startWriter();
    const { writer, clock } = world;
    const a = await source(world, 'a');
    writer.tell(a, 'controllers', starting);
    await writer.written(a, 'controllers');
    writer.remove(a, 'controllers');
    writer.tell(a, 'controllers', starting);
    await clock.run(writer.written(a, 'controllers'));
    assert.deepEqual(await said(world, 'a'), ['ControllersReady=False Starting']);
    const hold = world.faults.hang(isWrite);
    writer.remove(a, 'controllers');
    await clock.settle();
    assert.equal(hold.waiting, 1);
    writer.tell(a, 'controllers', ready);
    hold.release();
    await clock.run(writer.written(a, 'controllers'));
    await untilSaid(world, 'a', 'ControllersReady=True Ready');
  });

  test('that somebody else removes or changes are put right when that is seen', async () => {
    await using world = await startWriter();
    const { writer, clock, client } = world;
    const a = await source(world, 'a');
    writer.tell(a, 'controllers', ready);
    await writer.written(a, 'controllers');
    const stale = await client.get(ControlPlaneRegistration, { name: 'a' });
    for (const status of [[], [{ ...(await conditionsOf(world, 'a'))[0]!, status: 'Unknown' }]]) {
      const body = { status: { conditions: status } };
      const seen = await client.status.patch(ControlPlaneRegistration, { name: 'a' }, { type: 'merge', body });
      writer.observe(seen);
      await untilSaid(world, 'a', 'ControllersReady=True Ready');
      await clock.advance(10_000);
    }
    world.faults.forget();
    writer.observe({ ...stale, status: {} } as never);
    await clock.advance(60_000);
    assert.equal(writesOf(world), 0, 'what was seen was old');
    writer.observe(await client.get(ControlPlaneRegistration, { name: 'a' }));
    await clock.advance(60_000);
    assert.equal(world.faults.requests.length, 1);
  });

  test('that a process before had no time to remove go, those that are asked for stay', async () => {
    await using world = await startWriter();
    const a = await source(world, 'a', ['controllers', 'scheduler']);
    for (const service of ['controllers', 'scheduler'] as const) {
      world.writer.tell(a, service, ready);
      await world.writer.written(a, service);
    }
    let next = await world.restart();
    next.tell(a, 'controllers', ready);
    await world.clock.advance(60_000);
    assert.deepEqual(await said(world, 'a'), ['ControllersReady=True Ready', 'SchedulerReady=True Ready']);
    await changeSpec(world.client, 'a', { services: ['controllers'] });
    next = await world.restart();
    next.tell(a, 'controllers', ready);
    await untilSaid(world, 'a', 'ControllersReady=True Ready');
  });

  test('that are forgotten stay as they are, whatever was about to be written', async () => {
    await using world = await startWriter();
    const { writer, clock, faults } = world;
    const a = await source(world, 'a');
    writer.tell(a, 'controllers', ready);
    await writer.written(a, 'controllers');
    writer.tell(a, 'controllers', failing);
    await writer.forget(a, 'controllers');
    await clock.advance(60_000);
    writer.tell(a, 'controllers', failing);
    await clock.settle();
    const hold = faults.hang(isWrite);
    await clock.advance(6_000);
    assert.equal(hold.waiting, 1);
    await writer.forget(a, 'controllers');
    assert.equal(hold.waiting, 0);
    hold.release();
    await clock.advance(60_000);
    assert.deepEqual(await said(world, 'a'), ['ControllersReady=True Ready']);
  });

  test('are as they were at the end, and nothing is written after it', async () => {
    await using world = await startWriter();
    const { writer, clock } = world;
    const a = await source(world, 'a');
    writer.tell(a, 'controllers', ready);
    await writer.written(a, 'controllers');
    writer.tell(a, 'controllers', failing);
    await world.stop();
    writer.tell(a, 'controllers', failing);
    writer.remove(a, 'controllers');
    await writer.written(a, 'controllers');
    await clock.advance(60_000);
    assert.deepEqual(await said(world, 'a'), ['ControllersReady=True Ready']);
  });
});
