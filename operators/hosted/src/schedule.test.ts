import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { jittered, Schedule } from './schedule.ts';

/** A schedule in virtual time whose work takes `workMs`. */
function world(workMs: number, concurrency = 2) {
  const random = seededRandom(3);
  const clock = new Scheduler(random);
  const started: [key: string, atMs: number][] = [];
  const running = { now: 0, most: 0 };
  const work = async (key: string): Promise<number> => {
    started.push([key, clock.monotonicMs()]);
    running.most = Math.max(running.most, ++running.now);
    await new Promise<void>((resolve) => void clock.after(workMs, resolve));
    running.now--;
    return jittered(1_000, random);
  };
  const ending = new AbortController();
  const schedule = new Schedule({ clock, concurrency, work });
  return { clock, schedule, started, running, ending, ended: () => schedule.run(ending.signal) };
}

test('each key has its turn in every period, with at most so many at the same time', async () => {
  const { clock, schedule, started, running, ending, ended } = world(100);
  for (const key of ['a', 'b', 'c', 'd', 'e']) schedule.add(key, 1_000);
  const end = ended();
  await clock.advance(10_000);
  for (const key of ['a', 'b', 'c', 'd', 'e']) {
    const times = started.filter(([one]) => one === key).map(([, atMs]) => atMs);
    assert.ok(times.length >= 7 && times.length <= 10, `${key}: ${times.length}`);
    assert.ok(times.slice(1).every((atMs, at) => atMs - times[at]! >= 900));
  }
  assert.equal(running.most, 2);
  ending.abort();
  await clock.run(end);
});

test('a removed key has no turn, and one that is added again continues once', async () => {
  const { clock, schedule, started, ending, ended } = world(100);
  schedule.add('a', 1_000);
  const end = ended();
  await clock.advance(1_050);
  assert.equal(started.length, 1);
  schedule.remove('a');
  await clock.advance(5_000);
  assert.equal(started.length, 1);
  schedule.add('a', 1_000);
  schedule.add('a');
  await clock.advance(3_500);
  assert.ok(started.length >= 3 && started.length <= 5);
  ending.abort();
  await clock.run(end);
  const { length } = started;
  await clock.advance(5_000);
  assert.equal(started.length, length);
});

test('keys before the run wait for it', async () => {
  const { clock, schedule, started, ending, ended } = world(1);
  schedule.add('a');
  await clock.advance(5_000);
  assert.deepEqual(started, []);
  const end = ended();
  await clock.advance(500);
  assert.equal(started.length, 1);
  ending.abort();
  await clock.run(end);
});

test('a key is due earlier when it is hastened, but not before a time since its last start', async () => {
  const { clock, schedule, started, ending, ended } = world(10);
  schedule.add('a');
  const end = ended();
  await clock.advance(100);
  schedule.hasten('a', 500);
  await clock.advance(350);
  assert.equal(started.length, 1);
  await clock.advance(100);
  assert.equal(started.length, 2);
  ending.abort();
  await clock.run(end);
});

test('a key that is removed and added again while its work runs does not run twice at the same time', async () => {
  const { clock, schedule, running, started, ending, ended } = world(300);
  schedule.add('a');
  const end = ended();
  await clock.advance(100);
  schedule.remove('a');
  schedule.add('a');
  await clock.advance(500);
  assert.deepEqual([started.length, running.most], [2, 1]);
  ending.abort();
  await clock.run(end);
});
