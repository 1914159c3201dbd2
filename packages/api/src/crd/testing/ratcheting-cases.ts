/** A definition before and after it was made stricter, objects that were valid before, and changes to them. */

import type { JsonSchema } from '../json-schema.ts';
import { definition } from './definitions.ts';

type Schema = Record<string, unknown>;
type Fields = Record<string, unknown>;

const schema = (text: Schema, count: Schema, list: Schema, rule: object[]): JsonSchema =>
  ({
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          a: text,
          b: text,
          n: count,
          deep: { type: 'object', properties: { a: text, n: count } },
          map: { type: 'object', additionalProperties: text },
          plain: { type: 'array', items: text },
          keyed: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['k'],
            items: { type: 'object', required: ['k'], properties: { k: { type: 'string' }, v: text, n: count } },
          },
          set: list,
          ruled: {
            type: 'object',
            properties: { x: { type: 'integer' }, y: { type: 'integer' } },
            'x-kubernetes-validations': rule,
          },
          free: {
            type: 'object',
            'x-kubernetes-preserve-unknown-fields': true,
            'x-kubernetes-validations': rule.length > 0 ? [{ rule: 'false' }] : [],
          },
        },
      },
      status: { type: 'object', properties: { a: text, n: count } },
    },
  }) as unknown as JsonSchema;

const version = { version: { subresources: { status: {} } } };
const loose = schema({ type: 'string' }, { type: 'integer' }, { type: 'array', items: { type: 'string' } }, []);
const strict = schema(
  { type: 'string', maxLength: 3, enum: ['abc', 'd'] },
  { type: 'integer', maximum: 5 },
  { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
  [{ rule: '!has(self.x) || !has(self.y) || self.x < self.y', message: 'x must be under y' }],
);

export const looseDefinition = definition('Ratchet', loose, version);
export const strictDefinition = definition('Ratchet', strict, version);

const wrong: Fields = {
  a: 'wrong',
  n: 9,
  deep: { a: 'wrong', n: 9 },
  map: { p: 'wrong', q: 'abc' },
  plain: ['wrong', 'abc'],
  keyed: [
    { k: 'one', v: 'wrong', n: 9 },
    { k: 'two', v: 'abc' },
  ],
  set: ['a', 'a'],
  ruled: { x: 5, y: 3 },
  free: { z: 1 },
};

/** Changes to the object, starting from `wrong`. */
const changes: readonly Fields[] = [
  {},
  { b: 'abc' },
  { b: 'also wrong' },
  { a: 'still wrong' },
  { a: 'abc' },
  { n: 10 },
  { deep: { a: 'wrong', n: 3 } },
  { deep: { a: 'wronger', n: 9 } },
  { deep: { a: 'wrong', n: 9, x: 1 } },
  { map: { p: 'wrong', q: 'abc', r: 'd' } },
  { map: { p: 'wrong', q: 'wrong' } },
  { map: { q: 'wrong' } },
  { plain: ['wrong', 'abc'], b: 'd' },
  { plain: ['wrong', 'abc', 'd'] },
  { plain: ['abc', 'wrong'] },
  {
    keyed: [
      { k: 'two', v: 'abc' },
      { k: 'one', v: 'wrong', n: 9 },
    ],
  },
  {
    keyed: [
      { k: 'one', v: 'wrong', n: 8 },
      { k: 'two', v: 'd' },
    ],
  },
  { keyed: [{ k: 'three', v: 'wrong' }] },
  { set: ['a', 'a', 'a'] },
  { set: ['a', 'b', 'b'] },
  { ruled: { x: 5, y: 3 }, b: 'd' },
  { ruled: { x: 5, y: 2 } },
  { ruled: { x: 1, y: 2 } },
  { free: { z: 1 }, b: 'd' },
  { free: { z: 2 } },
  { free: null },
];

export const ratchetedFrom: Fields = { spec: wrong };
export const ratchetedStatus: Fields = { a: 'wrong', n: 9 };
export const ratchetedChanges = (): Fields[] => changes.map((change) => ({ spec: { ...wrong, ...change } }));
export const ratchetedStatuses = (): (Fields | undefined)[] => [
  { a: 'wrong', n: 9 },
  { a: 'wrong', n: 10 },
  { a: 'wrong' },
  { a: 'other', n: 9 },
  {},
  undefined,
];
