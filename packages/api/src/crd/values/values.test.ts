import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inSlices } from '@hangar/cel/work';
import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { fieldErrorText } from '../../status/field-error.ts';
import type { JsonSchema } from '../json-schema.ts';
import { valueErrors } from './check.ts';
import { formatCheck } from './formats.ts';
import { goFloat } from './numbers.ts';
import { ValuePlan } from './plan.ts';

const texts = (schema: object, value: unknown): string[] =>
  valueErrors(new ValuePlan({ type: 'object', properties: { a: schema } } as JsonSchema), { a: value }).map(
    fieldErrorText,
  );

const cases: readonly (readonly [schema: object, value: unknown, ...texts: string[]])[] = [
  [{ type: 'integer' }, 1],
  [{ type: 'integer' }, 'x', 'a: Invalid value: "string": a in body must be of type integer: "string"'],
  [{ type: 'string' }, null, 'a: Invalid value: "null": a in body must be of type string: "null"'],
  [{ type: 'string', format: 'date' }, 5, 'a: Invalid value: "int64": a in body must be of type date: "int64"'],
  [{ type: 'string', maxLength: 2 }, '😀😀'],
  [{ type: 'string', maxLength: 2 }, 'abc', 'a: Too long: may not be more than 2 bytes'],
  [{ type: 'string', minLength: 2 }, '😀', 'a: Invalid value: "😀": a in body should be at least 2 chars long'],
  [{ type: 'string', pattern: '^\\d+$' }, 'x', 'a: Invalid value: "x": a in body should match \'^\\d+$\''],
  [{ type: 'string', enum: ['x', 'y'] }, 'z', 'a: Unsupported value: "z": supported values: "x", "y"'],
  [{ type: 'number', enum: [1] }, 1.5],
  // Go compares whole numbers with the whole part of a bound.
  [{ type: 'number', minimum: 1.5 }, 1],
  [{ type: 'number', minimum: 1.5 }, 1.25, 'a: Invalid value: 1.25: a in body should be greater than or equal to 1.5'],
  [{ type: 'number', multipleOf: 0.1 }, 0.3],
  [
    { type: 'integer', format: 'int32' },
    3_000_000_000,
    '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in a',
  ],
  [{ type: 'array', maxItems: 1, items: {} }, [1, 2], 'a: Too many: 2: must have at most 1 item'],
  [
    { type: 'object', additionalProperties: false },
    { b: 1 },
    'a: Invalid value: "b": a.b in body is a forbidden property',
  ],
  [{ type: 'object', required: ['b'] }, {}, 'a.b: Required value'],
  [
    { oneOf: [{ required: ['b'] }, { required: ['c'] }] },
    {},
    '<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found none valid',
    'a.b: Required value',
  ],
  [{ not: { minimum: 3 } }, 5, '<nil>: Invalid value: "": "a" must not validate the schema (not)'],
];

for (const [schema, value, ...expected] of cases) {
  test(`${JSON.stringify(value)} against ${JSON.stringify(schema)}`, () =>
    assert.deepEqual(texts(schema, value), expected));
}

test('of the alternatives that fail, the one that matches most is explained', () => {
  const schema = {
    type: 'object',
    properties: { b: { type: 'string' }, c: { type: 'string' } },
    anyOf: [{ required: ['z'] }, { properties: { b: { maxLength: 1 }, c: {} } }],
  };
  assert.deepEqual(texts(schema, { b: 'long', c: 'x' }), [
    '<nil>: Invalid value: "": "a" must validate at least one schema (anyOf)',
    'a.b: Too long: may not be more than 1 byte',
  ]);
});

test('floats are written as Go writes them', () => {
  assert.deepEqual([1, 1.5, 1e20, 1e21, 0.0001, 0.00001, 1e-7].map(goFloat), [
    '1',
    '1.5',
    '100000000000000000000',
    '1e+21',
    '0.0001',
    '1e-05',
    '1e-07',
  ]);
});

test('formats accept what Go accepts', () => {
  const right: Record<string, string[]> = {
    email: ['a@b.c', 'Name <a@b.c>', '"a b"@c.d'],
    ipv4: ['1.2.3.4', '01.2.3.4', '::ffff:1.2.3.4'],
    cidr: ['10.0.0.0/8', '::/0'],
    mac: ['00:00:5e:00:53:01', '0000.5e00.5301'],
    duration: ['1h', '5 min', '2 weeks'],
    'date-time': ['2020-01-01t00:00:00.5+01:00'],
    isbn: ['0321751043', '978-0321751041'],
    creditcard: ['4111 1111 1111 1111'],
    'k8s-short-name': ['abc'],
  };
  const wrong: Record<string, string[]> = {
    email: ['a', 'a@', 'a b@c.d'],
    ipv6: ['fe80::1%eth0', '1.2.3.4'],
    cidr: ['10.0.0.0/33'],
    mac: ['00:00-5e:00:53:01'],
    duration: ['soon', '3 parsecs'],
    'date-time': ['2020-02-30T00:00:00Z', '2020-01-01T24:00:00Z'],
    byte: ['', 'YWI'],
    isbn: ['0321751044'],
    creditcard: ['4111 1111 1111 1112'],
  };
  for (const [format, list] of Object.entries(right))
    for (const text of list) assert.ok(formatCheck(format)!(text), `${format} ${text}`);
  for (const [format, list] of Object.entries(wrong))
    for (const text of list) assert.ok(!formatCheck(format)!(text), `${format} ${text}`);
  assert.equal(formatCheck('unheard-of'), undefined);
});

let nowMs = 0;
/** Time on which every slice is over after one part. */
const restless: Clock = { ...systemClock, monotonicMs: () => (nowMs += 1_000) };
const limits = { cpuMs: () => (nowMs += 1_000), totalMs: Infinity };

test('a validation that pauses after each part finds the same errors', async () => {
  const item = { type: 'object', properties: { b: { type: 'string', maxLength: 3 } }, required: ['c'] };
  const plan = new ValuePlan({
    type: 'object',
    properties: {
      list: { type: 'array', items: { ...item, anyOf: [{ required: ['d'] }, { required: ['e'] }] } },
      map: { type: 'object', additionalProperties: { type: 'array', items: { type: 'integer' } } },
      texts: { type: 'array', items: { type: 'string', pattern: '^[a-z]+$' } },
    },
  } as JsonSchema);
  const value = {
    list: [{ b: 'abcd' }, { b: 'a', c: 1, d: 1 }, { c: 1 }],
    map: { x: [1, 'two', 3], y: [4], z: ['five'] },
    texts: ['a'.repeat(1_000), 'A'.repeat(1_000), 'b', 'B'],
  };
  const expected = valueErrors(plan, value).map(fieldErrorText);
  assert.equal(expected.length, 10);
  const found = inSlices(restless, () => valueErrors(plan, value), limits);
  assert.ok(found instanceof Promise);
  assert.deepEqual((await found).map(fieldErrorText), expected);
});

test('a pattern that takes too long for a text is an error of the text', async () => {
  const pattern = '^(\\b|a){0,200}(\\b|a){0,200}$';
  const plan = new ValuePlan({ type: 'array', items: { type: 'string', pattern } } as JsonSchema);
  const errors = await inSlices(systemClock, () => valueErrors(plan, [`${'a '.repeat(200_000)}!`]));
  assert.equal(errors.length, 1);
  assert.match(
    errors[0]!.detail,
    /cannot be matched against .*: operation interrupted: evaluation takes more than 30 ms/,
  );
});
