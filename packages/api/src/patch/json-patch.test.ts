import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuTime } from '@hangar/core/testing';
import type { JsonObject } from '../object.ts';
import { StatusError } from '../status/status.ts';
import { applyJsonPatch, jsonPatchProblems } from './json-patch.ts';

const original = (): JsonObject => ({ list: [1, 2, 3], map: { a: { b: 1 } }, text: 'x', nothing: null });

const works: readonly [name: string, patch: unknown, result: unknown][] = [
  ['add sets a key', [{ op: 'add', path: '/map/c', value: 5 }], { map: { a: { b: 1 }, c: 5 } }],
  ['add inserts into a list', [{ op: 'add', path: '/list/1', value: 9 }], { list: [1, 9, 2, 3] }],
  ['add appends with a dash', [{ op: 'add', path: '/list/-', value: 9 }], { list: [1, 2, 3, 9] }],
  ['add at minus one appends', [{ op: 'add', path: '/list/-1', value: 9 }], { list: [1, 2, 3, 9] }],
  ['add without a value sets null', [{ op: 'add', path: '/map/c' }], { map: { a: { b: 1 }, c: null } }],
  ['remove drops a key', [{ op: 'remove', path: '/map/a' }], { map: {} }],
  ['remove drops the last element by a negative index', [{ op: 'remove', path: '/list/-1' }], { list: [1, 2] }],
  [
    'replace adds a key that is not there',
    [{ op: 'replace', path: '/map/c', value: 1 }],
    { map: { a: { b: 1 }, c: 1 } },
  ],
  ['replace changes an element', [{ op: 'replace', path: '/list/0', value: 9 }], { list: [9, 2, 3] }],
  [
    'move takes a value along',
    [{ op: 'move', from: '/map/a', path: '/list/0' }],
    { list: [{ b: 1 }, 1, 2, 3], map: {} },
  ],
  [
    'copy of a missing key is null',
    [{ op: 'copy', from: '/map/x', path: '/map/y' }],
    { map: { a: { b: 1 }, y: null } },
  ],
  ['what stands before the first slash is ignored', [{ op: 'add', path: 'x/text', value: 'y' }], { text: 'y' }],
  ['a missing key tests equal to null', [{ op: 'test', path: '/map/x', value: null }], {}],
  [
    'equality does not look at the order of keys',
    [
      { op: 'add', path: '/map/a', value: { p: 1, q: [2] } },
      { op: 'test', path: '/map/a', value: { q: [2], p: 1 } },
    ],
    { map: { a: { p: 1, q: [2] } } },
  ],
  ['null is an empty patch', null, {}],
];

for (const [name, patch, result] of works) {
  test(name, () => {
    const document = original();
    assert.deepEqual(applyJsonPatch(document, patch), { ...original(), ...(result as JsonObject) });
    assert.deepEqual(document, original());
  });
}

test('escapes in a path are read once', () => {
  const patch = [{ op: 'replace', path: '/a~1b/~01', value: 2 }];
  assert.deepEqual(applyJsonPatch({ 'a/b': { '~1': 1 } }, patch), { 'a/b': { '~1': 2 } });
});

test('the whole document can be replaced and tested', () => {
  const patch = [
    { op: 'replace', path: '', value: { a: 1 } },
    { op: 'test', path: '', value: { a: 1 } },
  ];
  assert.deepEqual(applyJsonPatch(original(), patch), { a: 1 });
});

test('a copy is independent of what it was copied from', () => {
  const patch = [
    { op: 'add', path: '/map/a/b', value: 2 },
    { op: 'copy', from: '/map/a', path: '/map/c' },
    { op: 'add', path: '/map/c/b', value: 3 },
  ];
  assert.deepEqual(applyJsonPatch(original(), patch), { ...original(), map: { a: { b: 2 }, c: { b: 3 } } });
});

test('the values of a patch are not changed by later operations', () => {
  const patch = [
    { op: 'add', path: '/map/v', value: { inner: {} } },
    { op: 'add', path: '/map/v/inner/x', value: 1 },
  ];
  const before = structuredClone(patch);
  applyJsonPatch(original(), patch);
  assert.deepEqual(patch, before);
});

const fails: readonly [name: string, patch: unknown][] = [
  ['a failing test', [{ op: 'test', path: '/text', value: 'y' }]],
  ['removing a key that is not there', [{ op: 'remove', path: '/map/x' }]],
  ['a path through a text', [{ op: 'add', path: '/text/x', value: 1 }]],
  ['a path through a prototype', [{ op: 'add', path: '/constructor/x', value: 1 }]],
  ['a path without a slash', [{ op: 'add', path: 'text', value: 1 }]],
  ['an index behind the end', [{ op: 'add', path: '/list/4', value: 1 }]],
  ['an index before the start', [{ op: 'add', path: '/list/-5', value: 1 }]],
  ['an index that is no number', [{ op: 'replace', path: '/list/1e0', value: 1 }]],
  ['replacing behind the last element', [{ op: 'replace', path: '/list/-', value: 1 }]],
  ['moving into itself', [{ op: 'move', from: '/map', path: '/map/a' }]],
  ['an unknown operation', [{ op: 'increment', path: '/list/0' }]],
  ['an operation without path', [{ op: 'add', value: 1 }]],
  ['an empty operation', [null]],
  ['replacing the document by a number', [{ op: 'replace', path: '', value: 1 }]],
];

for (const [name, patch] of fails) {
  test(`${name} is answered with 422`, () => {
    assert.throws(() => applyJsonPatch(original(), patch), {
      code: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
    });
  });
}

test('a patch that is no list of operations is answered with 400', () => {
  const refused = (patch: unknown, message: string, options = {}): void =>
    assert.throws(() => applyJsonPatch({}, patch, options), { code: 'BadRequest', message });
  const prefix = 'error decoding patch: json: cannot unmarshal';
  refused({}, `${prefix} object into Go value of type []handlers.jsonPatchOp`);
  refused([true], `${prefix} bool into Go value of type handlers.jsonPatchOp`);
  refused([{ op: 'add', path: 1 }], `${prefix} number into Go struct field jsonPatchOp.path of type string`);
  const loose = { ignoreUnknownFields: true };
  refused('x', 'json: cannot unmarshal string into Go value of type jsonpatch.Patch', loose);
  refused([[]], 'json: cannot unmarshal array into Go value of type jsonpatch.Operation', loose);
});

test('what operations do not know is named', () => {
  assert.deepEqual(jsonPatchProblems([{ op: 'add' }, { op: 'add', x: 1, y: 2 }, null]), [
    'json patch unknown field "[1].x"',
    'json patch unknown field "[1].y"',
  ]);
});

test('more than 10,000 operations are answered with 413', () => {
  const patch = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/text', value: 'x' }));
  assert.throws(() => applyJsonPatch(original(), patch), {
    code: 'RequestEntityTooLarge',
    message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
  });
  assert.deepEqual(applyJsonPatch(original(), patch.slice(1)), original());
});

test('copies cannot double a document without end', () => {
  const patch = Array.from({ length: 60 }, (_, at) => ({ op: 'copy', from: '/map', path: `/map/${at}` }));
  assert.throws(() => applyJsonPatch({ map: { seed: 'x'.repeat(100) } }, patch), { code: 'Invalid' });
});

test('copies of many small values are refused before they are made', () => {
  const small = { map: Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`k${at}`, 'v'])) };
  const copies = (count: number): object[] =>
    Array.from({ length: count }, (_, at) => ({ op: 'copy', from: '/map', path: `/copies/${at}` }));
  const patch = (count: number): object[] => [{ op: 'add', path: '/copies', value: [] }, ...copies(count)];
  const result = applyJsonPatch(small, patch(400)) as { copies: unknown[] };
  assert.equal(result.copies.length, 400);
  assert.throws(() => applyJsonPatch(small, patch(600)), { code: 'Invalid' });
});

test('moves cannot nest a document deeper than any that is parsed', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(900)}{}${'}'.repeat(900)}`) as unknown;
  const patch = Array.from({ length: 300 }, () => [
    { op: 'add', path: '/next', value: deep },
    { op: 'move', from: '/top', path: `/next${'/a'.repeat(900)}/x` },
    { op: 'move', from: '/next', path: '/top' },
  ]).flat();
  for (const last of [[], [{ op: 'copy', from: '/top', path: '/y' }], [{ op: 'test', path: '/top', value: deep }]]) {
    assert.throws(() => applyJsonPatch({ top: {} }, [...patch, ...last]), { code: 'Invalid' });
  }
});

test('insertions at the front of a long list end within a second', () => {
  const patch = [
    { op: 'add', path: '/list', value: Array.from({ length: 1_000_000 }, () => 1) },
    ...Array.from({ length: 9_999 }, () => ({ op: 'add', path: '/list/0', value: 1 })),
  ];
  const takenMs = cpuTime();
  assert.throws(() => applyJsonPatch({}, patch), StatusError);
  assert.ok(takenMs() < 5000);
});

test('a key named __proto__ is an ordinary key', () => {
  const patch = JSON.parse(
    '[{"op":"add","path":"/__proto__","value":{"x":1}},{"op":"add","path":"/__proto__/y","value":2}]',
  ) as unknown;
  const result = applyJsonPatch({}, patch) as JsonObject;
  assert.equal(JSON.stringify(result), '{"__proto__":{"x":1,"y":2}}');
  assert.equal(Object.getPrototypeOf(result), Object.prototype);
  assert.equal(({} as JsonObject)['x'], undefined);
});

/** Processor time: the machine may be busy with something else. */
