import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../object.ts';
import { applyMergePatch } from './merge-patch.ts';

const cases: readonly [name: string, target: JsonObject, patch: unknown, result: unknown][] = [
  ['keys are set, changed and removed', { a: 1, b: 2 }, { b: null, c: 3, d: null }, { a: 1, c: 3 }],
  ['objects merge', { m: { a: 1, n: { b: 2 } } }, { m: { n: { c: 3 } } }, { m: { a: 1, n: { b: 2, c: 3 } } }],
  ['lists are replaced', { l: [1, 2] }, { l: [3] }, { l: [3] }],
  ['an object replaces a text without its nulls', { a: 'x' }, { a: { b: null, c: { d: null } } }, { a: { c: {} } }],
  ['a list keeps null elements and loses null members', { l: [] }, { l: [null, { a: null }] }, { l: [null, {}] }],
  ['what replaces an object keeps its nulls', { a: {} }, { a: [{ b: null }] }, { a: [{ b: null }] }],
  ['a null in the target is like nothing', { a: null }, { a: { b: null } }, { a: {} }],
  ['an empty patch changes nothing', { a: 1 }, {}, { a: 1 }],
];

for (const [name, target, patch, result] of cases) {
  test(name, () => {
    const before = structuredClone([target, patch]);
    assert.deepEqual(applyMergePatch(target, patch), result);
    assert.deepEqual([target, patch], before);
  });
}

test('subtrees that the patch does not mention are shared', () => {
  const target = { kept: { deep: [] }, changed: {} };
  assert.equal((applyMergePatch(target, { changed: { a: 1 } }) as typeof target).kept, target.kept);
});

test('a patch that is no object is refused in the words of kube-apiserver', () => {
  const refused = (patch: unknown, message: string, options = {}): void =>
    assert.throws(() => applyMergePatch({}, patch, options), { code: 'BadRequest', message });
  refused([], 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}');
  refused(true, 'error decoding patch: json: cannot unmarshal bool into Go value of type map[string]interface {}');
  refused(null, 'Invalid JSON Patch');
  refused(5, 'Invalid JSON Patch', { ignoreUnknownFields: true });
  assert.deepEqual(applyMergePatch({}, [{ a: null }], { ignoreUnknownFields: true }), [{}]);
});

test('a key named __proto__ is an ordinary key', () => {
  const patch = JSON.parse('{"__proto__":{"a":1,"b":null},"x":{"__proto__":{"c":{"d":null}}}}') as unknown;
  const result = applyMergePatch(JSON.parse('{"__proto__":{"z":1}}') as JsonObject, patch);
  assert.equal(JSON.stringify(result), '{"__proto__":{"z":1,"a":1},"x":{"__proto__":{"c":{}}}}');
  assert.equal(({} as JsonObject)['a'], undefined);
});

test('a ConfigMap of a kilobyte is merged in microseconds', () => {
  const data = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`key-${at}`, 'x'.repeat(56)]));
  const target = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels: { b: 'c' } }, data };
  const rounds = 20_000;
  const startedMs = performance.now();
  for (let round = 0; round < rounds; round++) applyMergePatch(target, { data: { 'key-3': `${round}` } });
  const microseconds = ((performance.now() - startedMs) * 1000) / rounds;
  // A hundred times the time on a quiet machine: only an error of scale fails it.
  assert.ok(microseconds < 100, `${microseconds} µs`);
});
