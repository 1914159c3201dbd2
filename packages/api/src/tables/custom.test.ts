import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases, resource, unreadable } from './column-cases.ts';
import { customTable, parseJsonPath } from './index.ts';
import type { KubeObject } from '../object.ts';

const object = resource as unknown as KubeObject;
const now = Date.parse('2026-01-01T00:00:00Z');

for (const [type, jsonPath, expected] of cases) {
  test(`a ${type} column at ${JSON.stringify(jsonPath)} shows ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(customTable([{ name: 'A', type, jsonPath }]).cells(object, now), ['thing', expected]);
  });
}

for (const [path, reason] of unreadable) {
  test(`the path ${JSON.stringify(path)} cannot be read`, () => {
    assert.throws(() => parseJsonPath(path), { code: 'InvalidJsonPath', message: reason });
  });
}

test('a path finds everything that it leads to, in order', () => {
  const found = (path: string): unknown[] => parseJsonPath(path).find(object);
  assert.deepEqual(found('.spec.nested[*].name'), ['a', 'b', 'c)']);
  assert.deepEqual(found('.spec.list[::2]'), ['zero', 'two']);
  assert.deepEqual(found('.spec.list[3,0]'), ['three', 'zero']);
  assert.deepEqual(found('.spec.nested..name'), ['a', 'x', 'b', 'c)']);
  assert.deepEqual(found('.spec.numbers..'), [[5, 1, 9]]);
});

test('a path that does not fit says why', () => {
  for (const [path, message] of [
    ['.spec.text[0]', /string is not array or slice/],
    ['.spec.list[9]', /array index out of bounds: index 9, length 4/],
    ['.spec.list[1:9]', /array index out of bounds: index 8, length 4/],
    ['.spec.list[::0]', /step must be > 0/],
    ['.spec.nested[?(@.size<>1)]', /unrecognized filter operator <>/],
    ['.spec.nested[?(@.size=="1")]', /incompatible types/],
    ['.spec.nested[?(..name=="a")]', /one element at a time/],
    ['.spec end', /unrecognized identifier end/],
  ] as const) {
    assert.throws(() => parseJsonPath(path).find(object), { code: 'JsonPathMismatch', message });
  }
});

test('a path that multiplies what it finds is stopped', () => {
  let deep: unknown = 'end';
  for (let i = 0; i < 200; i++) deep = [deep, deep];
  for (const path of ['..[0]..[0]..[0]..', `${'[0,1]'.repeat(60)}`, '..']) {
    assert.throws(() => parseJsonPath(path).find(deep), { code: 'JsonPathTooCostly' });
  }
  assert.throws(() => parseJsonPath(`.${'a'.repeat(20_000)}`), { code: 'InvalidJsonPath' });
});

test('the columns of a row share what may be visited: the last ones go without', () => {
  const values = Array.from({ length: 30_000 }, (_, i) => i);
  const column = { name: 'A', type: 'integer', jsonPath: '.spec.values[*]' };
  const cells = customTable([column, column, column]).cells({ ...object, spec: { values } }, now);
  assert.deepEqual(cells, ['thing', 0, null, null]);
});

test('without columns of its own a resource shows its age', () => {
  const { columns, cells } = customTable();
  assert.deepEqual(
    columns.map(({ name, type, format, priority }) => [name, type, format, priority]),
    [
      ['Name', 'string', 'name', 0],
      ['Age', 'date', '', 0],
    ],
  );
  assert.deepEqual(cells(object, now), ['thing', null]);
  const created = { ...object, metadata: { name: 'thing', creationTimestamp: '2025-12-31T23:00:00Z' } };
  assert.deepEqual(cells(created, now), ['thing', '60m']);
});

test('columns keep what the definition says of them, and the first that cannot be read ends them', () => {
  const { columns } = customTable([
    { name: 'A', type: 'string', jsonPath: '.a', description: 'what it is', format: 'byte', priority: 1 },
    { name: 'B', type: 'integer', jsonPath: '.b' },
    { name: 'C', type: 'string', jsonPath: '.c[' },
    { name: 'D', type: 'string', jsonPath: '.d' },
  ]);
  assert.deepEqual(columns.slice(1), [
    { name: 'A', type: 'string', format: 'byte', description: 'what it is', priority: 1 },
    {
      name: 'B',
      type: 'integer',
      format: '',
      description: 'Custom resource definition column (in JSONPath format): .b',
      priority: 0,
    },
  ]);
});
