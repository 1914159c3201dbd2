import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allSpecs } from '../e2e/specs.ts';
import { conformanceSpecs, subset } from './specs.ts';

test('the list has all 446 conformance specs, each once', () => {
  const names = conformanceSpecs().map(({ name }) => name);
  assert.equal(names.length, 446);
  assert.equal(new Set(names).size, 446);
  assert.ok(names.every((name) => name.endsWith('[Conformance]')));
});

test('serial specs run alone', () => {
  const serial = conformanceSpecs().filter(({ name }) => name.includes('[Serial]'));
  assert.ok(serial.length > 20);
  assert.ok(serial.every(({ isAlone }) => isAlone));
});

test('the subset of CI has specs that need running pods, each once, and none that waits or runs alone', () => {
  const withoutPods = new Set(allSpecs().map(({ name }) => name));
  const byName = new Map(conformanceSpecs().map((spec) => [spec.name, spec]));
  assert.equal(new Set(subset).size, subset.length);
  for (const name of subset) {
    const spec = byName.get(name);
    assert.ok(spec, name);
    assert.ok(!withoutPods.has(name), name);
    assert.ok(!spec.isWaiting && !spec.isAlone, name);
  }
});
