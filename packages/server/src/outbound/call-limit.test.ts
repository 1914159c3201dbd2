import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { CallLimit } from './call-limit.ts';

/** A clock that the test advances. */
function manualClock() {
  let nowMs = 0;
  const timers = new Set<{ atMs: number; callback: () => void }>();
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    after(delayMs, callback) {
      const timer = { atMs: nowMs + delayMs, callback };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
  };
  const pass = (ms: number): void => {
    nowMs += ms;
    for (const timer of timers) {
      if (timer.atMs > nowMs) continue;
      timers.delete(timer);
      timer.callback();
    }
  };
  return { clock, pass, timers };
}

const timeoutMs = 30_000;

test('calls that wait are refused when no call ends: each may be waiting for another', async () => {
  const { clock, pass, timers } = manualClock();
  const limit = new CallLimit(2, 10);
  assert.equal(limit.enter(clock, timeoutMs), undefined);
  assert.equal(limit.enter(clock, timeoutMs), undefined);
  const waiting = [limit.enter(clock, timeoutMs)!, limit.enter(clock, timeoutMs)!];
  pass(2_999);
  pass(1);
  for (const one of waiting) {
    await assert.rejects(one, { code: 'Unreachable', message: /^too many calls: 2 calls .* none of them has ended/ });
  }
  limit.leave(clock);
  assert.equal(limit.enter(clock, timeoutMs), undefined, 'the turn of an ended call is free');
  assert.equal(timers.size, 0);
});

test('calls that wait keep waiting while others end', async () => {
  const { clock, pass, timers } = manualClock();
  const limit = new CallLimit(1, 10);
  assert.equal(limit.enter(clock, timeoutMs), undefined);
  const waiting = [limit.enter(clock, timeoutMs)!, limit.enter(clock, timeoutMs)!, limit.enter(clock, timeoutMs)!];
  for (const one of waiting) {
    pass(2_500);
    limit.leave(clock);
    await one;
  }
  assert.equal(timers.size, 0);
});

test('a call that waits past its own time ends with Timeout', async () => {
  const { clock, pass } = manualClock();
  const limit = new CallLimit(1, 10);
  assert.equal(limit.enter(clock, timeoutMs), undefined);
  const waiting = limit.enter(clock, 1_000)!;
  pass(1_000);
  await assert.rejects(waiting, { code: 'Timeout' });
});
