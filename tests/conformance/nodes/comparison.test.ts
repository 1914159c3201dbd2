import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Spec } from '../e2e/specs.ts';
import { compare, describeComparison } from './comparison.ts';
import type { Results } from './results.ts';
import { isFailure, progressLine } from './run.ts';

const specs: Spec[] = ['both', 'there', 'here', 'neither', 'unknown'].map((name) => ({
  name,
  seconds: 1,
  isWaiting: false,
  isAlone: false,
}));
const resultsOf = (passed: Readonly<Record<string, boolean>>): Results =>
  new Map(
    Object.entries(passed).map(([name, one]) => [
      name,
      { name, passed: one, seconds: 1, cause: one ? '' : `no ${name}` },
    ]),
  );
const real = resultsOf({ both: true, there: true, here: false, neither: false });
const hangar = resultsOf({ both: true, there: false, here: true, neither: false });

test('a comparison distinguishes specs that pass on one control plane from those that have no result', () => {
  assert.deepEqual(compare(specs, { real, hangar }), {
    total: 5,
    passedReal: 2,
    passedHangar: 2,
    missingReal: ['unknown'],
    missingHangar: ['unknown'],
    onlyReal: ['there'],
    onlyHangar: ['here'],
    failedOnBoth: ['neither'],
  });
});

test('the description names each spec that passes on the real control plane only, with the cause of its failure', () => {
  const lines = describeComparison(compare(specs, { real, hangar }), { real, hangar });
  assert.equal(lines[0], '2 of 5 pass on the real control plane, 2 on Hangar');
  assert.ok(lines.includes('pass there and not here: 1'));
  assert.ok(lines.includes('✖ there\n    no there'));
  assert.ok(lines.includes('✖ here\n    no here'));
  const equal = describeComparison(compare(specs, { real, hangar: real }), { real, hangar: real });
  assert.ok(equal.includes('pass there and not here: none'));
});

const outcome = { spec: specs[0]!, passed: false, wasRun: true, seconds: 2, cause: 'timed out' };

test('a spec that fails on the real control plane may fail on Hangar', () => {
  assert.equal(isFailure(outcome, 'hangar', true), true);
  assert.equal(isFailure(outcome, 'hangar', undefined), true);
  assert.equal(isFailure(outcome, 'hangar', false), false);
  assert.equal(isFailure(outcome, 'real', false), true);
  assert.equal(isFailure({ ...outcome, passed: true }, 'hangar', true), false);
});

test('progress has the number of the spec, and the cause of a failure', () => {
  assert.equal(progressLine(outcome, 3, 446), '[3/446] ✖ both (2.0 s)\n    timed out');
  assert.equal(progressLine({ ...outcome, passed: true, cause: '' }, 4, 446), '[4/446] ✔ both (2.0 s)');
});
