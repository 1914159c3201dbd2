import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDependencies, selectAffected } from './select-affected.ts';
import { filesOf, suites } from './suites.ts';

const root = new URL('../..', import.meta.url).pathname;
const tests = filesOf(suites['real']!, root);
const dependencies = readDependencies(root);
const affectedBy = (...changed: string[]): string[] => selectAffected({ tests, changed, dependencies });
const has = (files: readonly string[], part: string): boolean => files.some((file) => file.includes(part));

test('a change of a package affects its own tests, tests of packages that import it, and tests that start it', () => {
  const affected = affectedBy('packages/store/src/keys.ts');
  for (const part of [
    'packages/store/',
    'packages/server/',
    'tests/platform/',
    'tests/conformance/kubectl',
    'story.real',
  ]) {
    assert.ok(has(affected, part), part);
  }
  assert.ok(!has(affected, 'packages/cel/'));
});

test('a change at the top affects what uses it, and nothing below', () => {
  const affected = affectedBy('operators/controlplane/src/rbac.ts');
  for (const part of ['operators/controlplane/', 'tests/platform/']) assert.ok(has(affected, part), part);
  for (const part of ['packages/store/', 'packages/api/']) assert.ok(!has(affected, part), part);
});

test('a change of tests, examples or manifests affects the tests that use them', () => {
  assert.deepEqual(
    affectedBy('tests/robustness/crash.real.ts').filter((file) => !file.startsWith('tests/')),
    [],
  );
  const manifests = affectedBy('deploy/manifests/anything.yaml');
  assert.ok(has(manifests, 'tests/deploy/') && !manifests.some((file) => file.startsWith('packages/')));
  assert.ok(has(affectedBy('examples/aggregated-notes/src/main.ts'), 'tests/conformance/aggregation'));
});

test('a change of the lock file or of the test runner affects everything, a change of the change log nothing', () => {
  assert.deepEqual(affectedBy('package-lock.json'), tests);
  assert.deepEqual(affectedBy('scripts/testing/pool.ts'), tests);
  assert.deepEqual(affectedBy('CHANGELOG.md'), []);
});
