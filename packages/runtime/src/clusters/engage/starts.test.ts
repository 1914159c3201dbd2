import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Starts } from './starts.ts';
import { CountedTime } from './testing/engine-world.ts';

const signal = new AbortController().signal;

test('places are given in order, and again when they are given back', async () => {
  const clock = new CountedTime(seededRandom(1));
  const starts = new Starts({ clock, places: 2, lendAfterMs: 100 });
  const order: number[] = [];
  const leaves: (() => void)[] = [];
  for (let at = 0; at < 5; at++) {
    void starts.enter(signal).then((leave) => {
      order.push(at);
      leaves.push(leave);
    });
  }
  await clock.advance(0);
  assert.deepEqual(order, [0, 1]);
  leaves[1]!();
  leaves[1]!();
  await clock.advance(0);
  assert.deepEqual(order, [0, 1, 2]);
  await clock.advance(100);
  assert.deepEqual(order, [0, 1, 2, 3, 4]);
  await clock.advance(100);
  assert.equal(clock.timers, 0);
});

test('who gives up while waiting takes no place', async () => {
  const clock = new CountedTime(seededRandom(1));
  const starts = new Starts({ clock, places: 1, lendAfterMs: 100 });
  const leave = await starts.enter(signal);
  const given = new AbortController();
  const waiting = starts.enter(given.signal);
  const last = starts.enter(signal);
  given.abort();
  await assert.rejects(waiting, { code: 'Aborted' });
  await assert.rejects(starts.enter(given.signal), { code: 'Aborted' });
  leave();
  (await last)();
  assert.equal(clock.timers, 0);
});

test('ten thousand that hang let the next one in within bounded time', async () => {
  const clock = new CountedTime(seededRandom(1));
  const starts = new Starts({ clock, places: 1_000, lendAfterMs: 100 });
  for (let at = 0; at < 10_000; at++) void starts.enter(signal);
  let isIn = false;
  void starts.enter(signal).then(() => (isIn = true));
  await clock.advance(1_000);
  assert.equal(isIn, true);
});
