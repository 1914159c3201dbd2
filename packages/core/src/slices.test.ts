import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Activity, runActivity } from './activity.ts';
import type { Clock } from './clock.ts';
import { inSlices, Slicer } from './slices.ts';
import type { Steps } from './slices.ts';

/** A manual clock; callbacks of `soon` run when the test calls them. */
function manualClock(): Clock & { nowMs: number; readonly waiting: (() => void)[] } {
  return {
    nowMs: 0,
    waiting: [],
    now: () => 0,
    monotonicMs() {
      return this.nowMs;
    },
    after: () => ({ cancel: () => {} }),
    soon(callback) {
      this.waiting.push(callback);
      return { cancel: () => {} };
    },
  };
}

test('work that fits into one slice runs to its end at once', () => {
  const clock = manualClock();
  const done: number[] = [];
  function* steps(): Steps<string> {
    for (let at = 0; at < 1_000; at++) {
      done.push(at);
      yield;
    }
    return 'made';
  }
  assert.equal(inSlices(new Slicer(clock), steps()), 'made');
  assert.equal(done.length, 1_000);
  assert.equal(clock.waiting.length, 0);
});

test('work that takes longer releases the event loop between slices', async () => {
  const clock = manualClock();
  const done: number[] = [];
  function* steps(): Steps<string> {
    for (let at = 0; at < 10; at++) {
      done.push(at);
      clock.nowMs += 5;
      yield;
    }
    return 'made';
  }
  const made = inSlices(new Slicer(clock), steps());
  const counts: number[] = [];
  while (clock.waiting.length > 0) {
    counts.push(done.length);
    clock.waiting.shift()!();
    await new Promise(setImmediate);
  }
  assert.deepEqual(counts, [2, 4, 6, 8, 10]);
  assert.equal(await made, 'made');
});

test('a failure after a pause rejects', async () => {
  const clock = manualClock();
  function* steps(): Steps<void> {
    clock.nowMs += 100;
    yield;
    throw new Error('broken');
  }
  const made = inSlices(new Slicer(clock), steps());
  clock.waiting.shift()!();
  await assert.rejects(async () => made, /broken/);
});

test('each slice is charged to the activity that works', async () => {
  const clock = manualClock();
  let marks = 0;
  const activity = new Activity('GET', '/');
  activity.meter = { runs: () => marks++ };
  function* steps(): Steps<void> {
    for (let at = 0; at < 3; at++) {
      clock.nowMs += 10;
      yield;
    }
  }
  const working = runActivity(activity, () => inSlices(new Slicer(clock), steps()));
  for (let slice = 1; slice <= 3; slice++) {
    clock.waiting.shift()!();
    while (marks < slice) await Promise.resolve();
    while (slice < 3 && clock.waiting.length === 0) await Promise.resolve();
  }
  await working;
  assert.equal(marks, 3);
});
