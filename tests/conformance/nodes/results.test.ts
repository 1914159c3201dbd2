import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Outcome } from '../e2e/report.ts';
import type { Spec } from '../e2e/specs.ts';
import { appendResult, chooseSpecs, parseResults, readResults, removeResults } from './results.ts';
import type { Choice } from './results.ts';

const spec = (name: string): Spec => ({ name, seconds: 1, isWaiting: false, isAlone: false });
const outcome = (name: string, passed: boolean): Outcome => ({
  spec: spec(name),
  passed,
  wasRun: true,
  seconds: 1.5,
  cause: passed ? '' : 'timed out',
});

test('results are read as they were appended, and the last one of a spec counts', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-results-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'new', 'hangar.jsonl');
  assert.equal(readResults(file).size, 0);
  for (const one of [outcome('a', false), outcome('b', true), outcome('a', true)]) appendResult(file, one);
  assert.deepEqual(
    [...readResults(file).values()],
    [
      { name: 'a', passed: true, seconds: 1.5, cause: '' },
      { name: 'b', passed: true, seconds: 1.5, cause: '' },
    ],
  );
  removeResults(file);
  assert.equal(readResults(file).size, 0);
});

test('a line that is not complete is ignored and does not spoil the next one', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-results-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'hangar.jsonl');
  writeFileSync(file, '{"name":"a","passed":true,"seconds":1,"cause":""}\n{"name":"b","pas');
  assert.deepEqual([...readResults(file).keys()], ['a']);
  appendResult(file, outcome('c', true));
  assert.deepEqual([...readResults(file).keys()], ['a', 'c']);
});

const results = parseResults(
  ['{"name":"passed one","passed":true}', '{"name":"failed one","passed":false}', ''].join('\n'),
);
const names = (choice: Choice): string[] =>
  chooseSpecs(['passed one', 'failed one', 'new one', 'other'].map(spec), results, choice).map(({ name }) => name);

test('a run chooses all specs, those without a result, or also those that failed', () => {
  assert.deepEqual(names({ filter: '', which: 'all' }), ['passed one', 'failed one', 'new one', 'other']);
  assert.deepEqual(names({ filter: '', which: 'missing' }), ['new one', 'other']);
  assert.deepEqual(names({ filter: '', which: 'failed' }), ['failed one', 'new one', 'other']);
});

test('the filter and the pattern of specs to skip apply to every choice', () => {
  assert.deepEqual(names({ filter: 'one', which: 'missing' }), ['new one']);
  assert.deepEqual(names({ filter: 'one', skip: /^(new|passed)/, which: 'all' }), ['failed one']);
});
