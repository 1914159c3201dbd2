import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchesOf, timeoutSecondsOf } from './batches.ts';
import type { Spec } from './specs.ts';

const spec = (name: string, seconds: number): Spec => ({ name, seconds, isWaiting: false, isAlone: false });

test('long specs have a batch of their own, and come first', () => {
  const batches = batchesOf([spec('short', 1), spec('long', 60), spec('brief', 0.1)]);
  assert.deepEqual(
    batches.map((batch) => batch.map(({ name }) => name)),
    [['long'], ['short', 'brief']],
  );
});

test('every spec is in one batch', () => {
  const specs = Array.from({ length: 100 }, (_, index) => spec(`spec ${index}`, index % 7));
  const names = batchesOf(specs).flatMap((batch) => batch.map(({ name }) => name));
  assert.deepEqual(names.sort(), specs.map(({ name }) => name).sort());
});

test('a batch may take longer than its specs, but not for ever', () => {
  assert.equal(timeoutSecondsOf([spec('one', 9.5)]), 90);
  assert.equal(timeoutSecondsOf([spec('one', 9.5)], 600), 630);
});
