import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyJsonPatch } from '@hangar/api/patch';
import * as fc from 'fast-check';
import { cloneJson } from '../json/clone-json.ts';
import { jsonDifferences } from './json-differences.ts';
import type { JsonOperation } from './json-differences.ts';

type Json = Record<string, unknown>;

const apply = (document: Json, patch: readonly JsonOperation[]): unknown => applyJsonPatch(cloneJson(document), patch);

/** Small on purpose: equal keys and values must be frequent. */
const key = fc.constantFrom('a', 'b', 'a/b', '~', '~1', '', '0', '-', '__proto__', 'constructor');
const value = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, 0, 1, -0.5, '', 'a', 'null', true, false),
    fc.array(tie('json'), { maxLength: 6 }),
    fc.array(fc.tuple(key, tie('json')), { maxLength: 4 }).map(objectOf),
  ),
})).json;
const objects = fc.array(fc.tuple(key, value), { maxLength: 5 }).map(objectOf);

function objectOf(entries: readonly (readonly [string, unknown])[]): Json {
  const object: Json = {};
  for (const [name, one] of entries) {
    Object.defineProperty(object, name, { value: one, enumerable: true, configurable: true, writable: true });
  }
  return object;
}

/** With sorted members, including `__proto__`. */
const canonical = (one: unknown): string =>
  JSON.stringify(one, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? objectOf(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

test('the patch of any two objects makes the second of the first, and of equal ones there is none', () => {
  fc.assert(
    fc.property(objects, objects, (from, to) => {
      const patch = jsonDifferences(from, to);
      assert.equal(canonical(apply(from, patch)), canonical(to));
      assert.equal(patch.length === 0, canonical(from) === canonical(to));
    }),
    { numRuns: 3000 },
  );
});

test('neither side is changed', () => {
  const [from, to] = [{ list: [{ a: 1 }, 2] }, { list: [2, { a: 2 }], more: true }];
  const before = JSON.stringify([from, to]);
  jsonDifferences(from, to);
  assert.equal(JSON.stringify([from, to]), before);
});

const cases: [name: string, from: Json, to: Json, patch: JsonOperation[]][] = [
  ['a field that came', { a: 1 }, { a: 1, b: null }, [{ op: 'add', path: '/b', value: null }]],
  ['a field that went', { a: 1, b: null }, { a: 1 }, [{ op: 'remove', path: '/b' }]],
  ['a field that is null now', { a: 1 }, { a: null }, [{ op: 'replace', path: '/a', value: null }]],
  [
    'a name with slashes and tildes',
    { metadata: { annotations: {} } },
    { metadata: { annotations: { 'example.com/~a': 'x' } } },
    [{ op: 'add', path: '/metadata/annotations/example.com~1~0a', value: 'x' }],
  ],
  [
    'an item in front',
    { list: [{ name: 'a' }, { name: 'b' }] },
    { list: [{ name: 'x' }, { name: 'a' }, { name: 'b' }] },
    [{ op: 'add', path: '/list/0', value: { name: 'x' } }],
  ],
  ['an item behind', { list: [1] }, { list: [1, 2] }, [{ op: 'add', path: '/list/1', value: 2 }]],
  [
    'a field of an item',
    { list: [{ name: 'a' }, { name: 'b', image: '1' }] },
    { list: [{ name: 'a' }, { name: 'b', image: '2' }] },
    [{ op: 'replace', path: '/list/1/image', value: '2' }],
  ],
  [
    'two items that went from the middle',
    { list: [1, 2, 3, 4, 5] },
    { list: [1, 3, 5] },
    [
      { op: 'remove', path: '/list/1' },
      { op: 'remove', path: '/list/2' },
    ],
  ],
  [
    'an item that went and one that came elsewhere',
    { list: ['a', 'b', 'c', 'd'] },
    { list: ['a', 'c', 'x', 'd'] },
    [
      { op: 'remove', path: '/list/1' },
      { op: 'add', path: '/list/2', value: 'x' },
    ],
  ],
  [
    'all items',
    { list: [1, 2] },
    { list: [] },
    [
      { op: 'remove', path: '/list/0' },
      { op: 'remove', path: '/list/0' },
    ],
  ],
  ['a list that is an object now', { a: [] }, { a: {} }, [{ op: 'replace', path: '/a', value: {} }]],
];

for (const [name, from, to, patch] of cases) {
  test(`${name}: nothing else is said`, () => {
    assert.deepEqual(jsonDifferences(from, to), patch);
    assert.deepEqual(apply(from, patch), to);
  });
}

test('long lists cost little, and no patch is longer than an API server takes', () => {
  const from = { data: Array.from({ length: 50_000 }, (_, i) => ({ name: `n${i}` })), same: { a: 1 } };
  const inserted = { ...from, data: [...from.data.slice(0, 100), { name: 'x' }, ...from.data.slice(100)] };
  assert.equal(jsonDifferences(from, inserted).length, 1);
  const changed = { ...from, data: from.data.map(({ name }) => ({ name: `${name}'` })) };
  const patch = jsonDifferences(from, changed);
  assert.deepEqual(
    patch.map(({ op, path }) => [op, path]),
    [['replace', '/data']],
  );
  assert.deepEqual(apply(from, patch), changed);
});

test('long items that are alike are not compared with each other again and again', () => {
  const long = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`field-${i}`, 'x'.repeat(10)]));
  const from = { list: Array.from({ length: 140 }, (_, i) => ({ ...long, name: `n${i}` })) };
  const to = { list: from.list.map((item) => ({ ...item, more: true })) };
  const began = performance.now();
  const patch = jsonDifferences(from, to);
  const tookMs = performance.now() - began;
  assert.equal(patch.length, 140);
  // Comparing all pairs would take a hundred times as long as one pass.
  const once = performance.now();
  JSON.parse(JSON.stringify(from));
  const linearMs = performance.now() - once;
  assert.ok(tookMs < 50 * linearMs + 200, `${tookMs.toFixed(0)} ms, once through: ${linearMs.toFixed(0)} ms`);
});
