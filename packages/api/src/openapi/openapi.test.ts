import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { builtinServedGroups } from '../discovery/index.ts';
import type { ServedGroup, ServedResource } from '../discovery/index.ts';
import { servedGroupsOf } from '../discovery/testing/definitions.ts';
import { sampleDefinitions } from '../discovery/testing/samples.ts';
import { isObject } from '../object.ts';
import type { JsonObject } from '../object.ts';
import { openApiV2, openApiV2Protobuf, openApiV3Root, openApiV3Sources } from './index.ts';
import { wireDifference } from './testing/wire-difference.ts';
import { documentFormat } from './v3.ts';

const custom = servedGroupsOf(sampleDefinitions);
const groups = [...builtinServedGroups(), ...custom];

/** `example.org/v1` with one resource with this schema. */
function withSchema(jsonSchema: JsonObject | undefined): ServedGroup {
  const widget = custom.find(({ name }) => name === 'example.org')!.versions[0]!.resources[0]!;
  const resource: ServedResource = { ...widget, schema: { type: 'custom', listKind: 'WidgetList', jsonSchema } };
  return { name: 'example.org', versions: [{ name: 'v1', resources: [resource] }] };
}

const v3Schema = (jsonSchema: JsonObject | undefined): JsonObject => {
  const source = openApiV3Sources([withSchema(jsonSchema)]).get('apis/example.org/v1')!;
  const document = JSON.parse(source.build().toString()) as { components: { schemas: Record<string, JsonObject> } };
  return document.components.schemas['org.example.v1.Widget']!;
};
const v2Schema = (jsonSchema: JsonObject | undefined): JsonObject =>
  (openApiV2([withSchema(jsonSchema)])['definitions'] as Record<string, JsonObject>)['org.example.v1.Widget']!;

function* referencesIn(value: unknown): Generator<string> {
  if (Array.isArray(value)) for (const one of value) yield* referencesIn(one);
  else if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      if (key === '$ref' && typeof inner === 'string') yield inner;
      else yield* referencesIn(inner);
    }
  }
}

const lookUp = (document: JsonObject, reference: string): unknown =>
  reference
    .slice(2)
    .split('/')
    .reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), document);

test('every reference leads somewhere, and every schema is referred to', () => {
  const documents = [...openApiV3Sources(groups).values()].map((source) => source.build());
  for (const bytes of [...documents, Buffer.from(JSON.stringify(openApiV2(groups)))]) {
    const document = JSON.parse(bytes.toString()) as JsonObject & { components?: { schemas?: JsonObject } };
    const references = new Set(referencesIn(document));
    for (const reference of references) assert.ok(lookUp(document, reference), reference);
    for (const name of Object.keys(document.components?.schemas ?? {})) {
      assert.ok(references.has(`#/components/schemas/${name}`), name);
    }
  }
});

test('clients keep documents for as long as their hash: documents that change need a new format number', () => {
  const digest = createHash('sha256');
  for (const source of openApiV3Sources(builtinServedGroups()).values()) digest.update(source.build());
  const known = { format: 3, digest: '92f8ed47b8f82a5a' };
  assert.deepEqual({ format: documentFormat, digest: digest.digest('hex').slice(0, 16) }, known);
});

test('a changed definition changes the hash of its own group-version only', () => {
  const hashesOf = (all: readonly ServedGroup[]): Map<string, string> =>
    new Map([...openApiV3Sources(all).values()].map(({ path, hash }) => [path, hash]));
  const base = [...builtinServedGroups(), ...custom.filter(({ name }) => name !== 'example.org')];
  const before = hashesOf([...base, withSchema({ type: 'object' })]);
  const after = hashesOf([...base, withSchema({ type: 'object', description: 'changed' })]);
  assert.deepEqual(
    [...after].filter(([path, hash]) => before.get(path) !== hash).map(([path]) => path),
    ['apis/example.org/v1'],
  );
});

test('the list of documents has a URL with the hash for each', () => {
  const sources = openApiV3Sources(groups);
  const { paths } = openApiV3Root(sources) as { paths: Record<string, { serverRelativeURL: string }> };
  const { hash } = sources.get('apis/apps/v1')!;
  assert.equal(paths['apis/apps/v1']!.serverRelativeURL, `/openapi/v3/apis/apps/v1?hash=${hash}`);
  assert.ok(!Object.hasOwn(paths, 'apis/example.org'));
});

test('a custom kind without a schema is an object of anything', () => {
  const { 'x-kubernetes-group-version-kind': kinds, ...rest } = v3Schema(undefined);
  assert.deepEqual(rest, { type: 'object' });
  assert.deepEqual(kinds, [{ group: 'example.org', kind: 'Widget', version: 'v1' }]);
});

const intOrString = { 'x-kubernetes-int-or-string': true };
const both = [{ type: 'integer' }, { type: 'string' }];
const inV3: [name: string, schema: JsonObject, written: JsonObject][] = [
  ['int-or-string is said in plain words', intOrString, { ...intOrString, anyOf: both }],
  ['int-or-string that is said already stays', { ...intOrString, anyOf: both }, { ...intOrString, anyOf: both }],
  [
    'int-or-string beside other alternatives',
    { ...intOrString, anyOf: [{ minimum: 3 }], allOf: [{ maximum: 9 }] },
    { ...intOrString, anyOf: [{ minimum: 3 }], allOf: [{ anyOf: both }, { maximum: 9 }] },
  ],
  ['false is a schema of additional properties', { additionalProperties: false }, { additionalProperties: false }],
];
for (const [name, schema, written] of inV3) {
  test(`version 3: ${name}`, () => {
    const { properties } = v3Schema({ type: 'object', properties: { field: schema } }) as { properties: JsonObject };
    assert.deepEqual(properties['field'], written);
  });
}

const open = { 'x-kubernetes-preserve-unknown-fields': true };
const text = { type: 'string' };
const inV2: [name: string, schema: JsonObject, written: JsonObject][] = [
  ['what may be null has no type', { type: 'object', properties: { a: text }, nullable: true }, {}],
  ['what has unknown fields has no type', { type: 'object', properties: { a: text }, ...open }, open],
  ['a list of anything has no type', { type: 'array', ...open }, open],
  ['there are no alternatives and no defaults', { ...text, default: 'a', anyOf: [{ pattern: 'a' }], not: {} }, text],
  [
    'what may be null is not required',
    { properties: { a: { nullable: true }, b: text }, required: ['a', 'b'] },
    { properties: { a: {}, b: text }, required: ['b'] },
  ],
  [
    'nothing required is not said',
    { properties: { a: { nullable: true } }, required: ['a'] },
    { properties: { a: {} } },
  ],
  [
    'it goes down to the values of maps',
    { type: 'object', additionalProperties: { ...text, default: 'a' } },
    { type: 'object', additionalProperties: text },
  ],
];
for (const [name, schema, written] of inV2) {
  test(`version 2: ${name}`, () => {
    const { properties } = v2Schema({ type: 'object', properties: { field: schema } }) as { properties: JsonObject };
    assert.deepEqual(properties['field'], written);
  });
}

test('properties with the names of an object’s insides are ordinary properties', () => {
  const properties = JSON.parse('{"__proto__":{"type":"string"},"constructor":{"nullable":true}}') as JsonObject;
  const schema = { type: 'object', properties, required: ['__proto__', 'toString', 'constructor'] };
  const names = ['__proto__', 'apiVersion', 'constructor', 'kind', 'metadata'];
  assert.deepEqual(Object.keys(v3Schema(schema)['properties'] as object).sort(), names);
  const reduced = v2Schema(schema);
  assert.deepEqual(Object.keys(reduced['properties'] as object).sort(), names);
  assert.deepEqual(reduced['required'], ['__proto__', 'toString']);
  assert.ok(openApiV2Protobuf({ swagger: '2.0', definitions: { a: reduced } }).includes('__proto__'));
});

test('the definition’s own schema is not touched', () => {
  const schema = { type: 'object', properties: { a: { ...intOrString }, b: { type: 'object', nullable: true } } };
  const copy = structuredClone(schema);
  v3Schema(schema);
  v2Schema(schema);
  assert.deepEqual(schema, copy);
});

const schemaInProtobuf = (schema: JsonObject): Buffer => openApiV2Protobuf({ definitions: { a: schema } });
const message = (number: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), content]);
const named = (name: string, value: Buffer): Buffer =>
  message(1, Buffer.concat([message(1, Buffer.from(name)), message(2, value)]));

test('protobuf: a schema is a named entry with its fields in order', () => {
  const expected = message(9, named('a', Buffer.concat([message(2, Buffer.from('int32')), Buffer.from([0x50, 1])])));
  assert.deepEqual(schemaInProtobuf({ exclusiveMinimum: true, format: 'int32' }), expected);
});

test('protobuf: zeros are not written, but a choice of false is', () => {
  const choice = Buffer.from([0xaa, 1, 2, 0x10, 0]);
  const expected = message(9, named('a', choice));
  assert.deepEqual(schemaInProtobuf({ minimum: 0, title: '', additionalProperties: false }), expected);
});

test('protobuf: the comparison of the tests finds a difference, and none in another form of the same YAML', () => {
  const extension = (value: unknown): Buffer => schemaInProtobuf({ 'x-a': value });
  assert.match(wireDifference(extension({ a: 1 }), extension({ a: 2 }))!, /"a":1/);
  const inJson = message(2, Buffer.from('{"a":1}'));
  assert.equal(wireDifference(inJson, message(2, Buffer.from('a: 1\n'))), undefined);
  assert.ok(wireDifference(inJson, message(2, Buffer.from('a: 2\n'))));
});

test('what every object has is explained, of custom resources too', () => {
  const widgets = openApiV3Sources(custom).get('apis/example.org/v1');
  const { components } = JSON.parse(widgets!.build().toString()) as { components: { schemas: JsonObject } };
  const schema = (name: string) => components.schemas[name] as { properties: Record<string, { description: string }> };
  const own = schema('org.example.v1.Widget').properties;
  assert.match(own['apiVersion']!.description, /^APIVersion defines/);
  assert.match(own['metadata']!.description, /^Standard object's metadata/);
  const metadata = schema('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta').properties;
  for (const [name, { description }] of Object.entries(metadata)) assert.ok(description, name);
});
