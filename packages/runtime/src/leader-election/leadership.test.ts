import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { Leadership } from './leadership.ts';

function lead(clock: Clock, renewDeadlineMs = 10_000) {
  let losses = 0;
  const onLost = () => void losses++;
  const leadership = new Leadership({ name: 'it', clock, renewDeadlineMs, token: 3, sentAtMs: 0, onLost });
  return { leadership, losses: () => losses };
}

test('timers that fire early do not make it last for ever', async () => {
  const scheduler = new Scheduler(seededRandom(1));
  const early: Clock = {
    now: () => scheduler.now(),
    monotonicMs: () => scheduler.monotonicMs(),
    soon: (callback) => scheduler.soon(callback),
    after: (delayMs, callback) => scheduler.after(Math.max(0, delayMs - 0.9), callback),
  };
  const { leadership, losses } = lead(early);
  await scheduler.advance(9_999);
  assert.equal(leadership.signal.aborted, false);
  await scheduler.advance(3);
  assert.equal(leadership.signal.aborted, true);
  assert.equal(losses(), 1);
});

test('it is prolonged from when the renewal was sent, never by one that came too late', async () => {
  const clock = new Scheduler(seededRandom(1));
  const { leadership } = lead(clock);
  await clock.advance(8_000);
  leadership.prolong(5_000);
  assert.equal(leadership.remainingMs(), 7_000);
  leadership.prolong(1_000);
  assert.equal(leadership.remainingMs(), 7_000);
  await clock.advance(7_000);
  leadership.prolong(14_999);
  assert.equal(leadership.remainingMs(), 0);
  assert.equal(leadership.lost?.code, 'LeadershipLost');
});

test('a process that slept past its time is refused before its timer fires', () => {
  let nowMs = 0;
  const asleep: Clock = {
    now: () => nowMs,
    monotonicMs: () => nowMs,
    soon: () => ({ cancel() {} }),
    after: () => ({ cancel() {} }),
  };
  const { leadership, losses } = lead(asleep);
  leadership.check();
  nowMs = 10_000;
  assert.throws(() => leadership.check(), { code: 'Fenced' });
  assert.equal(leadership.signal.aborted, true);
  assert.equal(losses(), 1);
});

test('asked to end it can still be proven, until it is closed; that is no loss', async () => {
  const clock = new Scheduler(seededRandom(1));
  const { leadership, losses } = lead(clock);
  leadership.stop('because');
  assert.equal(leadership.signal.reason, 'because');
  leadership.check();
  leadership.close();
  assert.throws(() => leadership.check(), { code: 'Fenced' });
  await clock.advance(20_000);
  assert.equal(losses(), 0);
  assert.equal(leadership.lost, undefined);
});
