import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { inTurn } from './turns.ts';

const later = (clock: Scheduler, ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));

test('attempts for the same thing come one after the other, in the order in which they were asked for', async () => {
  const clock = new Scheduler(seededRandom(1));
  const told: string[] = [];
  const attempt = (name: string) => async (): Promise<void> => {
    told.push(`${name} begins`);
    await later(clock, 5);
    told.push(`${name} ends`);
  };
  const shared = {};
  const all = ['a', 'b', 'c'].map((name) => inTurn(shared, clock, attempt(name)));
  await clock.run(Promise.all(all));
  assert.deepEqual(told, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('one that hangs holds up nobody for long, and one that fails nobody at all', async () => {
  const clock = new Scheduler(seededRandom(1));
  const shared = {};
  const hanging = inTurn(shared, clock, () => later(clock, 30_000));
  const failing = inTurn(shared, clock, () => Promise.reject(new Error('refused')));
  const third = inTurn(shared, clock, () => Promise.resolve(clock.monotonicMs()));
  await clock.run(assert.rejects(failing, /refused/));
  assert.ok((await clock.run(third)) < 1_000);
  await clock.run(hanging);
});
