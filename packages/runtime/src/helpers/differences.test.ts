import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isEqual, mergePatchOf } from './differences.ts';

test('a field that is undefined is one that is not there', () => {
  assert.equal(isEqual({ a: 1, b: undefined }, { a: 1 }), true);
  assert.equal(isEqual({ a: 1 }, { a: 1, b: undefined }), true);
  assert.equal(isEqual({ a: 1 }, { a: 1, b: null }), false);
  assert.equal(isEqual({ a: [] }, { a: {} }), false);
  assert.equal(isEqual([1, { b: 2 }], [1, { b: 2 }]), true);
  assert.equal(isEqual([1, 2], [1]), false);
});

test('a patch has what changed and nulls for what is gone', () => {
  const before = { spec: { a: 1, b: { c: 2, d: 3 }, list: [1, 2] }, same: { x: 1 }, gone: 'yes' };
  const after = { spec: { a: 1, b: { c: 5 }, list: [2] }, same: { x: 1 }, fresh: { y: 1 } };
  assert.deepEqual(mergePatchOf(before, after), {
    spec: { b: { c: 5, d: null }, list: [2] },
    gone: null,
    fresh: { y: 1 },
  });
  assert.equal(mergePatchOf(before, structuredClone(before)), undefined);
});
