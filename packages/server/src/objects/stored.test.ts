import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { encodeProtobuf } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import type { Entry, Revision } from '@hangar/store';
import { builtinServed } from '../resources/builtin.ts';
import { StoredForm } from './stored.ts';

const configMaps = builtinServed('', 'v1', 'configmaps')!.stored;
const widgets = new StoredForm({
  kind: 'Widget',
  apiVersion: 'example.com/v1',
  storedApiVersion: 'example.com/v1',
  isCustom: true,
  convert: (object, apiVersion) => ({ ...object, apiVersion }),
});

const entryOf = (value: Uint8Array | string, revision = 7): Entry => ({
  key: '/k',
  value: typeof value === 'string' ? Buffer.from(value) : value,
  createRevision: 1 as Revision,
  modRevision: revision as Revision,
  version: 1,
  lease: undefined,
});

/** Asserts that splicing and decoding give the same result, for any order of fields. */
function assertFaithful(form: StoredForm, entry: Entry, isCustom = false): void {
  const object = form.object(entry);
  const text = form.json(entry).toString();
  assert.deepEqual(JSON.parse(text), object, text);
  assert.ok(text.endsWith('}\n'));
  const { kind, apiVersion, ...rest } = object;
  assert.deepEqual(JSON.parse(form.items([entry]).toString()), isCustom ? { apiVersion, kind, ...rest } : rest);
  // Parsing would hide a duplicate key.
  assert.equal(text.split('"resourceVersion":').length, JSON.stringify(object).split('"resourceVersion":').length);
}

const configMap = (metadata: object, rest: object = {}): KubeObject =>
  ({ kind: 'ConfigMap', apiVersion: 'v1', metadata, ...rest }) as KubeObject;
const widget = (metadata: object, rest: object = {}): KubeObject =>
  ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata, ...rest }) as KubeObject;

test('shared managedFields are stored like others', () => {
  const fields = { 'f:data': { '.': {}, 'f:a"b': {} } };
  const entryWith = (fieldsV1: object, rest: object = {}): object => ({
    manager: 'm"',
    operation: 'Update',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...rest,
  });
  const shared = [
    entryWith(Object.freeze({ ...fields })),
    entryWith(fields),
    entryWith(Object.freeze({ ...fields }), { subresource: 'status' }),
  ];
  const plain = structuredClone(shared);
  for (const metadata of [{}, { name: 'a', uid: 'u', labels: { x: 'y' } }]) {
    for (const rest of [{}, { data: { k: 'v' } }]) {
      for (const [form, object] of [
        [configMaps, configMap],
        [widgets, widget],
      ] as const) {
        const expected = form.encode(object({ ...metadata, managedFields: plain }, rest)).toString();
        const stored = (): string => form.encode(object({ ...metadata, managedFields: shared }, rest)).toString();
        assert.equal(stored(), expected);
        assert.equal(stored(), expected);
      }
    }
  }
});

test('the version is written behind the uid, and the value does not have it', () => {
  const value = configMaps.encode(configMap({ name: 'a', uid: 'u', resourceVersion: '3', labels: { x: 'y' } }));
  assert.equal(
    value.toString(),
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"u","labels":{"x":"y"}}}',
  );
  assert.equal(
    configMaps.json(entryOf(value)).toString(),
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"7","labels":{"x":"y"}}}\n',
  );
  assert.equal(
    configMaps.items([entryOf(value)]).toString(),
    '{"metadata":{"name":"a","uid":"u","resourceVersion":"7","labels":{"x":"y"}}}',
  );
});

test('items of custom resources keep their type, those of built-in kinds do not', () => {
  const value = widgets.encode(widget({ name: 'a', uid: 'u' }));
  assert.equal(
    widgets.items([entryOf(value)]).toString(),
    '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","uid":"u","resourceVersion":"7"}}',
  );
});

describe('values that others wrote', () => {
  const head = '"kind":"ConfigMap","apiVersion":"v1"';
  const values: Record<string, string | Uint8Array> = {
    'without a uid': `{${head},"metadata":{"name":"a"}}`,
    'without a uid, but with a label of that name': `{${head},"metadata":{"name":"a","labels":{"uid":"x"}},"data":{"uid":"y"}}`,
    'without a uid, but with an owner': `{${head},"metadata":{"name":"a","ownerReferences":[{"kind":"A","uid":"x"}]}}`,
    'with labels before the uid': `{${head},"metadata":{"labels":{"uid":"x"},"name":"a","uid":"u"}}`,
    'with another order': `{"metadata":{"uid":"u","name":"a"},"apiVersion":"v1","data":{"a":"b"},"kind":"ConfigMap"}`,
    'with spaces': `{ "kind": "ConfigMap", "apiVersion": "v1", "metadata": { "name": "a", "uid": "u" } }`,
    'with a version of their own': `{${head},"metadata":{"name":"a","uid":"u","resourceVersion":"99"}}`,
    'with an empty uid': `{${head},"metadata":{"name":"a","uid":""}}`,
    'with quotes in their uid': `{${head},"metadata":{"name":"a","uid":"u\\"v"}}`,
    'with nothing in their metadata': `{${head},"metadata":{}}`,
    'with a name that looks like a uid': `{${head},"metadata":{"name":"\\"uid\\":\\"x","uid":"u"}}`,
    'as protobuf': encodeProtobuf(configMap({ name: 'a', uid: 'u', labels: { uid: 'x' } }, { data: { a: 'b' } })),
  };
  for (const [name, value] of Object.entries(values)) {
    test(`${name} are answered as they are, with the version of their key`, () => {
      const entry = entryOf(value);
      assertFaithful(configMaps, entry);
      assert.equal(configMaps.object(entry).metadata.resourceVersion, '7');
    });
  }
});

test('an object that was only imagined has no version', () => {
  const entry = entryOf(configMaps.encode(configMap({ name: 'a', uid: 'u' })), 0);
  assert.ok(!configMaps.json(entry).toString().includes('resourceVersion'));
  assert.equal(configMaps.object(entry).metadata.resourceVersion, undefined);
});

test('a deleted object is shown with the version that it is told', () => {
  const entry = entryOf(widgets.encode(widget({ name: 'a', uid: 'u' })));
  assert.equal(JSON.parse(widgets.json(entry, 12 as Revision).toString()).metadata.resourceVersion, '12');
  assert.equal(widgets.object(entry, 12 as Revision).metadata.resourceVersion, '12');
});

test('items are joined by commas, however many they are', () => {
  for (const count of [0, 1, 2, 1_001]) {
    const entries = Array.from({ length: count }, (_, at) =>
      // Every third uses the decoder.
      entryOf(
        at % 3 === 0 ? `{"metadata":{"name":"${at}"}}` : configMaps.encode(configMap({ name: String(at), uid: 'u' })),
        at + 1,
      ),
    );
    const items = JSON.parse(`[${configMaps.items(entries).toString()}]`) as KubeObject[];
    assert.equal(items.length, count);
    items.forEach((item, at) => {
      assert.equal(item.metadata.name, String(at));
      assert.equal(item.metadata.resourceVersion, String(at + 1));
    });
  }
});

test('what differs only in the order of its fields has the same bytes', () => {
  const one = configMaps.encode(configMap({ name: 'a', uid: 'u', labels: { b: '1' }, annotations: { c: '2' } }));
  const other = configMaps.encode({
    metadata: { annotations: { c: '2' }, uid: 'u', labels: { b: '1' }, name: 'a' },
    apiVersion: 'v1',
    kind: 'ConfigMap',
  } as unknown as KubeObject);
  assert.equal(other.toString(), one.toString());
});

test('keys of prototypes are ordinary data', () => {
  const spec = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}') as object;
  const entry = entryOf(widgets.encode(widget({ name: 'a', uid: 'u' }, { spec })));
  assertFaithful(widgets, entry, true);
  assert.match(widgets.json(entry).toString(), /"__proto__":\{"polluted":true\}/);
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});

test('splicing and decoding agree for whatever is stored', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.constantFrom('"uid":"', '\\', '\\"', '{', '[', '"', '\u2028', 'é', '😀', '\u0000', 'resourceVersion'),
  );
  const texts = fc.dictionary(text, text, { maxKeys: 4 });
  const metadata = fc.record(
    {
      name: text,
      generateName: text,
      namespace: text,
      uid: text,
      labels: texts,
      annotations: texts,
      ownerReferences: fc.array(fc.record({ kind: text, uid: text }), { maxLength: 2 }),
      finalizers: fc.array(text, { maxLength: 2 }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(metadata, texts, fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (meta, data, revision) => {
      assertFaithful(configMaps, entryOf(configMaps.encode(configMap(meta, { data })), revision));
      assertFaithful(widgets, entryOf(widgets.encode(widget(meta, { data })), revision), true);
      // As another implementation would write the same object.
      assertFaithful(configMaps, entryOf(JSON.stringify(configMap(meta, { data })), revision));
    }),
    { numRuns: 300, seed: 1 },
  );
});
