import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextBackOff, remainingMs, restartBackOff } from './back-off.ts';
import type { BackOffState } from './back-off.ts';

test('the first restart is immediate, then 10 s, doubled up to 5 min', () => {
  let state: BackOffState | undefined;
  let now = 0;
  const delays: number[] = [];
  for (let restart = 0; restart < 8; restart++) {
    delays.push(remainingMs(state, restartBackOff, { finishedAt: now, now }) / 1_000);
    now += delays.at(-1)! * 1_000;
    state = nextBackOff(state, restartBackOff, now);
  }
  assert.deepEqual(delays, [0, 10, 20, 40, 80, 160, 300, 300]);
});

test('a container that ran longer than 10 min starts from the beginning', () => {
  const state = { delayMs: 160_000, updatedAt: 0 };
  const now = 600_001;
  assert.equal(remainingMs(state, restartBackOff, { finishedAt: now, now }), 0);
  assert.deepEqual(nextBackOff(state, restartBackOff, now), { delayMs: 10_000, updatedAt: now });
  assert.equal(remainingMs(state, restartBackOff, { finishedAt: 500_000, now: 510_000 }), 150_000);
});
