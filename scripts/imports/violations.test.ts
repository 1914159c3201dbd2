import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importsOf } from './graph.ts';
import { violations } from './violations.ts';

const entries = new Set(['@hangar/core', '@hangar/core/simulation', '@hangar/store']);

function problems(files: Record<string, string>): string[] {
  return violations(
    Object.entries(files).flatMap(([file, text]) => importsOf(file, text)),
    entries,
  );
}

test('an import along the direction is fine', () => {
  assert.deepEqual(
    problems({ 'packages/store/src/a.ts': `import { assert } from '@hangar/core';\nimport fs from 'node:fs';` }),
    [],
  );
});

test('an import against the direction is named', () => {
  const found = problems({ 'packages/core/src/a.ts': `import type { Store } from '@hangar/store';` });
  assert.deepEqual(found, ['packages/core/src/a.ts: packages/core must not know store']);
});

test('a deep import into another package is refused, by name and by path', () => {
  const found = problems({
    'packages/store/src/a.ts': `import { x } from '@hangar/core/src/queue.ts';\nimport { y } from '../../core/src/queue.ts';`,
  });
  assert.equal(found.length, 2);
  assert.match(found[0]!, /not an entry/);
  assert.match(found[1]!, /reaches into packages\/core/);
});

test('only test code may use the real programs', () => {
  const text = `import { tool } from '../../../tools/tool.ts';`;
  assert.deepEqual(problems({ 'packages/store/src/a.real.ts': text }), []);
  assert.equal(problems({ 'packages/store/src/a.ts': text }).length, 1);
});

test('a cycle of run-time imports is found once, also over several lines and re-exports', () => {
  const found = problems({
    'packages/core/src/a.ts': `import {\n  b,\n} from './b.ts';`,
    'packages/core/src/b.ts': `export { c } from './c.ts';`,
    'packages/core/src/c.ts': `import './a.ts';`,
  });
  assert.deepEqual(found, [
    'cycle: packages/core/src/a.ts → packages/core/src/b.ts → packages/core/src/c.ts → packages/core/src/a.ts',
  ]);
});

test('types may refer to each other', () => {
  assert.deepEqual(
    problems({
      'packages/core/src/a.ts': `import type { B } from './b.ts';`,
      'packages/core/src/b.ts': `import './a.ts';`,
    }),
    [],
  );
});

test('a package without a rule is a problem, not a hole', () => {
  assert.match(problems({ 'packages/new/src/a.ts': `import { x } from '@hangar/core';` })[0]!, /no line in/);
});
