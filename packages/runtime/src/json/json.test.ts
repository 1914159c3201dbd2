import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { cloneJson } from './clone-json.ts';
import { sameJson } from './same-json.ts';

test('copies are equal and share nothing', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const copy = cloneJson(value);
      assert.deepEqual(copy, value);
      assert.ok(sameJson(copy, value));
      const shares = (one: unknown, other: unknown): boolean =>
        typeof one === 'object' &&
        one !== null &&
        (one === other || Object.entries(one).some(([key, part]) => shares(part, (other as never)[key])));
      assert.equal(shares(copy, value), false);
    }),
  );
});

test('what differs is told apart', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), fc.jsonValue({ maxDepth: 3 }), (one, other) => {
      let isEqual = true;
      try {
        assert.deepEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)));
      } catch {
        isEqual = false;
      }
      assert.equal(sameJson(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other))), isEqual);
    }),
  );
  assert.equal(sameJson({ a: undefined }, {}), true);
  assert.equal(sameJson([], {}), false);
  assert.equal(sameJson({ a: 1 }, { b: 1 }), false);
  assert.equal(sameJson({ toString: 1 }, { valueOf: 1 }), false);
  assert.equal(sameJson({ data: {} }, { data: { constructor: 'x' } }), false);
});

test('a field called __proto__ is a field', () => {
  const copy = cloneJson(JSON.parse('{"__proto__":{"x":[1]},"a":1}'));
  assert.equal(Object.getPrototypeOf(copy), Object.prototype);
  assert.deepEqual(Object.keys(copy), ['__proto__', 'a']);
  assert.equal(copy.x, undefined);
});

for (const [open, close] of [
  ['[', ']'],
  ['{"a":', '}'],
] as const) {
  test(`nested as deep as kube-apiserver takes it (${open}) does not run out of stack`, () => {
    const deep = (end: string): unknown => JSON.parse(`${open.repeat(9_999)}${end}${close.repeat(9_999)}`);
    const value = deep('"x"');
    const copy = cloneJson(value);
    assert.equal(JSON.stringify(copy), JSON.stringify(value));
    assert.notEqual(copy, value);
    assert.equal(sameJson(value, copy), true);
    assert.equal(sameJson(value, deep('"y"')), false);
  });
}

test('a field called __proto__ is a field at any depth', () => {
  const text = `${'['.repeat(9_999)}{"__proto__":1}${']'.repeat(9_999)}`;
  assert.equal(JSON.stringify(cloneJson(JSON.parse(text))), text);
});
