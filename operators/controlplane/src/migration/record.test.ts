import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { retryMsAfter, servingMode, startDelayMs, startedRecord, withOutcome, withoutAttempt } from './record.ts';
import { defaultTimings as timings } from './timings.ts';

const nowMs = Date.UTC(2026, 0, 1);
const started = startedRecord({ id: 'm1', from: 'Virtual' }, nowMs, timings);
const decided = (outcome: 'Switched' | 'Aborted') => withOutcome(started, { outcome, nowMs, message: '' }, timings);

test('the old mode serves until the switch is recorded', () => {
  const spec = { mode: 'Dedicated' } as const;
  assert.equal(servingMode({ spec, status: { migration: started } }), 'Virtual');
  assert.equal(servingMode({ spec, status: { migration: decided('Aborted') } }), 'Virtual');
  assert.equal(servingMode({ spec, status: { migration: decided('Switched') } }), 'Dedicated');
  assert.equal(servingMode({ spec }), 'Dedicated');
});

test('an extension of the end of an aborted migration keeps the outcome', () => {
  const extended = withoutAttempt(decided('Aborted'), { nowMs: nowMs + 1, message: '', retryMs: 5 });
  assert.equal(extended.outcome, 'Aborted');
  assert.equal(extended.step, 'Decommission');
});

test('the back-off doubles, is bounded, and is never shorter than the lifetime of calls', () => {
  const delays = [0, 1, 2, 3, 50].map((attempts) => retryMsAfter(attempts, timings));
  assert.deepEqual(delays, [15_000, 15_000, 30_000, 60_000, 600_000]);
});

test('a migration starts when another mode is wanted, and again after an abort with a delay', () => {
  const last = { ...decided('Aborted'), completedAt: new Date(nowMs).toISOString() };
  assert.equal(startDelayMs({ wanted: 'Virtual', serving: 'Virtual', last: undefined }, nowMs), undefined);
  assert.equal(startDelayMs({ wanted: 'Dedicated', serving: 'Virtual', last: undefined }, nowMs), 0);
  assert.equal(startDelayMs({ wanted: 'Dedicated', serving: 'Virtual', last: started }, nowMs), undefined);
  assert.equal(startDelayMs({ wanted: 'Dedicated', serving: 'Virtual', last }, nowMs + 1_000), 59_000);
  assert.equal(startDelayMs({ wanted: 'Dedicated', serving: 'Virtual', last }, nowMs + 60_000), 0);
});
