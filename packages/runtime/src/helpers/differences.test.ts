import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergePatchOf } from './differences.ts';

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

test('a field that is undefined is one that is not there', () => {
  assert.equal(mergePatchOf({ a: 1, b: undefined }, { a: 1 }), undefined);
  assert.equal(mergePatchOf({ a: 1 }, { a: 1, b: undefined }), undefined);
  assert.deepEqual(mergePatchOf({ a: {} }, { a: undefined }), { a: null });
  assert.deepEqual(mergePatchOf({}, { a: {} }), { a: {} });
  assert.deepEqual(mergePatchOf({ a: [] }, { a: {} }), { a: {} });
});

test('fields may have any name, also those of prototypes', () => {
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    const having = (value: unknown) =>
      JSON.parse(
        JSON.stringify({ data: { x: 1 } })
          .replace('x', name)
          .replace('1', JSON.stringify(value)),
      );
    const changed = (from: object, to: object) => JSON.stringify(mergePatchOf(from as never, to as never));
    assert.equal(changed({ data: {} }, having('y')), `{"data":{"${name}":"y"}}`);
    assert.equal(changed(having('y'), { data: {} }), `{"data":{"${name}":null}}`);
    assert.equal(changed(having({ a: 1 }), having({ a: 2 })), `{"data":{"${name}":{"a":2}}}`);
    assert.equal(changed(having({ a: 1 }), having({ a: 1 })), undefined);
  }
  assert.equal(({} as Record<string, unknown>)['a'], undefined);
});

test('objects as deep as servers take them have a patch, too', () => {
  const deep = (end: string) => JSON.parse(`${'{"a":'.repeat(9_999)}${end}${'}'.repeat(9_999)}`);
  assert.equal(mergePatchOf(deep('1'), deep('1')), undefined);
  let patch: unknown = mergePatchOf(deep('{"x":1,"y":1}'), deep('{"x":2,"y":1}'));
  for (let depth = 0; depth < 9_999; depth++) patch = (patch as { a: unknown }).a;
  assert.deepEqual(patch, { x: 2 });
});
