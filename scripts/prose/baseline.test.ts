import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countsOf, excesses, lowered } from './baseline.ts';
import type { Scope, ScopedFinding } from './scopes.ts';

const finding = (scope: Scope, file: string): ScopedFinding => {
  return { scope, file, line: 1, excerpt: '', rule: '', suggestion: '' };
};
const found = [
  finding('strings', 'packages/a/src/x.ts'),
  finding('strings', 'packages/a/y.ts'),
  finding('documents', 'README.md'),
];

test('findings are counted by scope and package', () => {
  assert.deepEqual(countsOf(found), { strings: { 'packages/a': 2 }, documents: { '.': 1 } });
});

test('more findings than the baseline are an excess, as many or fewer are not', () => {
  assert.deepEqual(excesses(found, { strings: { 'packages/a': 2 }, documents: { '.': 7 } }), []);
  const [excess, ...others] = excesses(found, { strings: { 'packages/a': 1 }, documents: { '.': 1 } });
  assert.deepEqual(others, []);
  assert.deepEqual([excess?.scope, excess?.package, excess?.count, excess?.allowed], ['strings', 'packages/a', 2, 1]);
});

test('a package without an entry may have no findings', () => {
  assert.equal(excesses(found, { strings: { 'packages/a': 2 } }).length, 1);
});

test('an update lowers numbers, removes those that reach zero, and never raises one', () => {
  assert.deepEqual(lowered({ strings: { 'packages/a': 1, 'packages/b': 3 }, documents: { '.': 5 } }, found), {
    strings: { 'packages/a': 1 },
    documents: { '.': 1 },
  });
});
