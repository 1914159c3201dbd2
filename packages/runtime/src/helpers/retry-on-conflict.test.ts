import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '@hangar/api';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { retryOnConflict } from './retry-on-conflict.ts';

const conflict = () => new StatusError('Conflict', 'somebody was faster');
const world = () => {
  const random = seededRandom(1);
  return { random, clock: new Scheduler(random) };
};

test('what conflicts is tried again with growing delays, until it works', async () => {
  const { clock, random } = world();
  const times: number[] = [];
  const attempt = async () => {
    times.push(clock.monotonicMs());
    if (times.length < 4) throw conflict();
    return 'done';
  };
  assert.equal(await clock.run(retryOnConflict(attempt, { clock, random })), 'done');
  const delays = times.slice(1).map((time, i) => time - times[i]!);
  for (const [i, delay] of delays.entries())
    assert.ok(delay >= 10 * 2 ** i && delay <= 15 * 2 ** i, `${delays.join()}`);
});

test('after five attempts the conflict is passed on', async () => {
  const { clock, random } = world();
  let attempts = 0;
  const attempt = () => (attempts++, Promise.reject(conflict()));
  await assert.rejects(clock.run(retryOnConflict(attempt, { clock, random })), { code: 'Conflict' });
  assert.equal(attempts, 5);
});

test('whatever else fails is passed on at once', async () => {
  let attempts = 0;
  const attempt = () => (attempts++, Promise.reject(new StatusError('Forbidden', 'no')));
  await assert.rejects(retryOnConflict(attempt), { code: 'Forbidden' });
  assert.equal(attempts, 1);
});

test('an abort ends the wait', async () => {
  const { clock, random } = world();
  const controller = new AbortController();
  const attempt = () => Promise.reject(conflict());
  const retrying = retryOnConflict(attempt, { clock, random, delayMs: 1_000_000, signal: controller.signal });
  clock.after(5, () => controller.abort());
  await assert.rejects(clock.run(retrying), { code: 'Aborted' });
  assert.ok(clock.monotonicMs() < 1_000);
});
