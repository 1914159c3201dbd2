import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allSpecs } from '../e2e/specs.ts';
import { essentialSpecs, leftOutSpecs } from './specs.ts';

test('a spec is either run or left out with a reason, and named once', () => {
  const run = essentialSpecs().map(({ name }) => name);
  const left = leftOutSpecs();
  assert.equal(new Set(run).size, run.length);
  assert.deepEqual(
    run.filter((name) => left.has(name)),
    [],
  );
  for (const [name, needs] of left) assert.ok(name.startsWith('[sig-') && needs.length > 5, name);
});

test('of the conformance specs of these areas none is forgotten', () => {
  const areas =
    /\] (Namespaces|Garbage collector|ResourceQuota|ServiceAccounts|Certificates API|Events|CustomResourceDefinition) /;
  const known = new Set([...essentialSpecs().map(({ name }) => name), ...leftOutSpecs().keys()]);
  const conformance = allSpecs().filter(({ name }) => areas.test(name));
  assert.ok(conformance.length > 30);
  assert.deepEqual(
    conformance.filter(({ name }) => !known.has(name)),
    [],
  );
});
