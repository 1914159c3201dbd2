import assert from 'node:assert/strict';
import { test } from 'node:test';
import { summarize } from './report.ts';
import type { FileResult } from './result.ts';

const result = (file: string, passed: number, ...failed: string[]): FileResult => ({
  file,
  passed,
  failures: failed.map((name) => ({ test: name, text: 'no' })),
  durationMs: 1,
  cpuMs: 1,
  output: '',
});

test('the second result of a file replaces the first: one that passes is flaky and counts as passed', () => {
  const first = [result('a', 3), result('b', 1, 'x > y', 'z')];
  assert.deepEqual(summarize({ first, again: [result('b', 3)] }), {
    passed: 6,
    failed: 0,
    lines: ['flaky: b: x > y', 'flaky: b: z'],
    details: ['  x > y:\n    no', '  z:\n    no'],
  });
});

test('a file that fails twice fails the run with the names of its second failures', () => {
  const first = [result('a', 3), result('b', 1, 'x', 'z')];
  assert.deepEqual(summarize({ first, again: [result('b', 2, 'z')] }), {
    passed: 5,
    failed: 1,
    lines: ['✖ b: z'],
    details: ['  z:\n    no'],
  });
});
