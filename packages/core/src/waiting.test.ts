import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { seededRandom } from './random.ts';
import { Scheduler } from './simulation/scheduler.ts';
import { aborted, attempted, orAborted, settledWithin } from './waiting.ts';

const never = new Promise<never>(() => {});
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('waiting until aborted', () => {
  test('ends with the work or with the signal, and leaves no listener', async () => {
    const { signal } = new AbortController();
    assert.equal(await orAborted(Promise.resolve(7), signal), 7);
    assert.equal(await orAborted(Promise.resolve(7), undefined), 7);
    await assert.rejects(orAborted(Promise.reject(new Error('no')), signal), /no/);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
    const stopping = new AbortController();
    const waiting = orAborted(never, stopping.signal);
    stopping.abort();
    await assert.rejects(waiting, { code: 'Aborted' });
    assert.equal(getEventListeners(stopping.signal, 'abort').length, 0);
    await assert.rejects(orAborted(never, stopping.signal), { code: 'Aborted' }, 'it is too late already');
  });

  test('hands on what comes too late; what fails too late is no unhandled rejection', async () => {
    const work = Promise.withResolvers<number>();
    const late: number[] = [];
    await assert.rejects(
      orAborted(work.promise, AbortSignal.abort(), (value) => late.push(value)),
      { code: 'Aborted' },
    );
    work.resolve(7);
    await settled();
    assert.deepEqual(late, [7]);
    const failing = Promise.withResolvers<void>();
    await assert.rejects(orAborted(failing.promise, AbortSignal.abort()), { code: 'Aborted' });
    failing.reject(new Error('late'));
    await settled();
  });
});

test('whether something settled in time is known in time, and no timer is left', async () => {
  const clock = new Scheduler(seededRandom(1));
  assert.equal(await clock.run(settledWithin(clock, 100, never)), false);
  assert.equal(clock.monotonicMs(), 100);
  assert.equal(await settledWithin(clock, 100, Promise.resolve()), true);
  assert.equal(await settledWithin(clock, 100, Promise.reject(new Error('no'))), true);
});

test('a call that throws is a rejection', async () => {
  await assert.rejects(
    attempted(() => assert.fail('at once')),
    /at once/,
  );
  assert.equal(await attempted(() => 7), 7);
});

test('a signal can be waited for, also one that has fired', async () => {
  const controller = new AbortController();
  const waiting = aborted(controller.signal);
  controller.abort();
  await waiting;
  await aborted(controller.signal);
});
