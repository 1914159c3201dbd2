import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectedFiles } from './expected-times.ts';
import { filesOf, inStartOrder, limitsOf, suites } from './suites.ts';

const root = new URL('../..', import.meta.url).pathname;
const real = suites['real']!;
const files = filesOf(real, root);

test('every file with an expected time exists', () => {
  assert.deepEqual(
    expectedFiles.filter((file) => !files.includes(file)),
    [],
  );
});

test('files with real programs start in the order of the time that they and the rest of their group take', () => {
  const order = inStartOrder(real, files);
  assert.deepEqual(order.toSorted(), files.toSorted());
  const long = order.indexOf('tests/robustness/nth-fault.real.ts');
  assert.ok(long > 0 && long < order.indexOf('tests/deploy/image.real.ts'));
  const { exclusiveGroup } = limitsOf(real);
  const [first] = order;
  assert.notEqual(exclusiveGroup!(first!), undefined, `${first} is first`);
});
