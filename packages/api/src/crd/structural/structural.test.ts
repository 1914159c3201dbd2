import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonSchema } from '../json-schema.ts';
import { fieldErrorText } from '../../status/field-error.ts';
import { Correlation } from './correlate.ts';
import { defaultedNodesMax, defaultSizeOf } from './default-size.ts';
import { applySchemaDefaults, dropNulls } from './defaults.ts';
import { coerceEmbedded, embeddedErrors } from './embedded.ts';
import { listErrors } from './list-types.ts';
import { schemaNode } from './node.ts';
import type { SchemaNode } from './node.ts';
import { pruneUnknown } from './prune.ts';

const node = (properties: object, more: object = {}): SchemaNode =>
  schemaNode({ type: 'object', properties, ...more } as JsonSchema);
const text = { type: 'string' };

test('unknown fields are removed and named, sorted by their paths', () => {
  const schema = node({
    list: { type: 'array', items: { type: 'object', properties: { a: text } } },
    map: { type: 'object', additionalProperties: text },
  });
  const object = { z: 1, list: [{ a: 'x', b: 1 }, { c: 2 }], map: { any: 'y' }, metadata: { labels: {} } };
  assert.deepEqual(pruneUnknown(object, schema, true), ['list[0].b', 'list[1].c', 'z']);
  assert.deepEqual(object, { list: [{ a: 'x' }, {}], map: { any: 'y' }, metadata: { labels: {} } });
});

test('what keeps unknown fields is still pruned where it says what it knows', () => {
  const schema = node(
    { known: { type: 'object', properties: { a: text } } },
    { 'x-kubernetes-preserve-unknown-fields': true },
  );
  const object = { free: { x: 1 }, known: { a: 'x', b: 1 } };
  assert.deepEqual(pruneUnknown(object, schema, false), ['known.b']);
  assert.deepEqual(object, { free: { x: 1 }, known: { a: 'x' } });
});

test('an open map keeps its keys but not what is inside its values', () => {
  const object = { open: { a: { b: 1 }, c: 2 } };
  assert.deepEqual(pruneUnknown(object, node({ open: { type: 'object', additionalProperties: true } }), false), [
    'open.a.b',
  ]);
  assert.deepEqual(object, { open: { a: {}, c: 2 } });
});

test('defaults fill what is absent or forbidden to be null, and go on inside themselves', () => {
  const schema = node({
    a: { type: 'object', default: { x: 1 }, properties: { x: { type: 'integer' }, y: { ...text, default: 'y' } } },
    b: { ...text, default: 'b', nullable: true },
    c: { ...text, default: 'c' },
    d: { type: 'array', items: { ...text, default: 'item' } },
  });
  const object = { b: null, c: null, d: [null, 'given'] };
  applySchemaDefaults(object, schema);
  assert.deepEqual(object, { a: { x: 1, y: 'y' }, b: null, c: 'c', d: ['item', 'given'] });
});

test('a default is copied for every object', () => {
  const schema = node({ a: { type: 'object', default: {}, properties: { x: text } } });
  const [first, second] = [{}, {}] as { a?: { x?: string } }[];
  applySchemaDefaults(first, schema);
  first!.a!.x = 'changed';
  applySchemaDefaults(second, schema);
  assert.deepEqual(second, { a: {} });
});

test('nulls go where they are not allowed and nothing replaces them, but lists keep their places', () => {
  const schema = node({
    a: text,
    b: { ...text, nullable: true },
    c: { ...text, default: 'x' },
    d: { type: 'array', items: text },
  });
  const object = { a: null, b: null, c: null, d: [null], unknown: null };
  dropNulls(object, schema);
  assert.deepEqual(object, { b: null, c: null, d: [null], unknown: null });
});

test('sets and maps report each repeated item once', () => {
  const schema = node({
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
    map: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', properties: { k: text } },
    },
  });
  const object = { set: ['a', 'b', 'a', 'a'], map: [{ k: 'x' }, {}, { k: 'x', v: 1 }, {}] };
  assert.deepEqual(listErrors(object, schema).map(fieldErrorText), [
    'set[2]: Duplicate value: "a"',
    'map[2]: Duplicate value: {"k":"x"}',
    'map[3]: Duplicate value: {}',
  ]);
  const mixed = { set: ['1', 1, '[]', [] as unknown[]] };
  assert.deepEqual(listErrors(mixed, schema), []);
});

test('metadata of embedded resources is sanitised and checked', () => {
  const schema = node({
    t: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
  });
  const object = { t: { kind: 'pod!', metadata: { name: 'a/b', foo: 1, creationTimestamp: null } } };
  assert.deepEqual(coerceEmbedded(object, schema), { error: undefined, unknown: ['t.metadata.foo'] });
  assert.deepEqual(object.t.metadata, { name: 'a/b' });
  const paths = embeddedErrors(object, schema).map(({ path, type }) => `${path} ${type}`);
  assert.deepEqual(paths, [
    't.apiVersion FieldValueRequired',
    't.kind FieldValueInvalid',
    't.metadata.name FieldValueInvalid',
  ]);
  const { error } = coerceEmbedded({ t: { metadata: { labels: { a: 1 } } } }, schema);
  assert.match(error!.detail, /cannot unmarshal number into Go struct field ObjectMeta.labels of type string/);
});

test('items of list maps are followed by their keys, other items are not', () => {
  const items = { type: 'object', properties: { k: text, v: text } };
  const schema = node({
    map: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'], items },
    list: { type: 'array', items },
  });
  const value = {
    map: [
      { k: 'b', v: '2' },
      { k: 'a', v: '1' },
    ],
    list: [{ k: 'a' }],
  };
  const old = {
    map: [
      { k: 'a', v: '1' },
      { k: 'b', v: 'x' },
    ],
    list: [{ k: 'a' }],
  };
  const correlation = new Correlation(value, old, schema);
  assert.equal(correlation.field('map')!.item(1)!.isEqual, true);
  assert.equal(correlation.field('map')!.item(0)!.isEqual, false);
  assert.equal(correlation.field('map')!.isEqual, false);
  assert.equal(correlation.field('list')!.isEqual, true);
  assert.equal(correlation.field('list')!.item(0), undefined);
  assert.equal(correlation.field('other'), undefined);
});

/** Four levels of lists of `width` empty objects, each the default of the one above. */
function multiplying(width: number, levels: number): JsonSchema {
  const items: JsonSchema =
    levels === 0 ? { type: 'object' } : { type: 'object', properties: { a: multiplying(width, levels - 1) } };
  return { type: 'array', items, default: Array.from({ length: width }, () => ({})) };
}

test('defaults that multiply beyond the budget throw before they are expanded, and leave the value as it was', () => {
  const schema = node({ first: { ...text, default: 'x' }, n: { ...text, default: 'y' }, bomb: multiplying(100, 4) });
  const object = { n: null };
  assert.throws(() => applySchemaDefaults(object, schema), { code: 'TooManyDefaults' });
  assert.deepEqual(object, { n: null });
});

test('the size of a default counts what is filled in below it', () => {
  const schema = node({ a: multiplying(10, 2) });
  const object: { a?: unknown } = {};
  applySchemaDefaults(object, schema);
  const count = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? Object.values(value).reduce<number>((sum, one) => sum + count(one), 1)
      : 1;
  assert.equal(defaultSizeOf(schema.properties.get('a')!).nodes, count(object.a));
});

test('small defaults of many items add up to the budget', () => {
  const schema = node({
    list: { type: 'array', items: { type: 'object', properties: { b: { ...text, default: 'b' } } } },
  });
  const items = (count: number): { list: object[] } => ({ list: Array.from({ length: count }, () => ({})) });
  const fits = items(defaultedNodesMax);
  applySchemaDefaults(fits, schema);
  assert.deepEqual(fits.list.at(-1), { b: 'b' });
  const exceeds = items(defaultedNodesMax + 1);
  assert.throws(() => applySchemaDefaults(exceeds, schema), { code: 'TooManyDefaults' });
  assert.deepEqual(exceeds, items(defaultedNodesMax + 1));
});
