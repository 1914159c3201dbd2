import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../object.ts';
import { fieldErrorText } from '../../status/field-error.ts';
import type { JsonSchema } from '../json-schema.ts';
import { definition, gadgets, plainGadgets } from '../testing/definitions.ts';
import { compileVersion } from './compiled-version.ts';
import { compareVersions } from './version-order.ts';

const withStatus = compileVersion(gadgets, 'v1')!;
const withoutStatus = compileVersion(plainGadgets, 'v1')!;

const gadget = (fields: object, metadata: object = {}): KubeObject => ({
  apiVersion: 'test.example.com/v1',
  kind: 'Gadget',
  metadata: { name: 'g', generation: 3, ...metadata },
  ...fields,
});

test('a creation loses its status only when the status is a subresource', () => {
  for (const [version, kept] of [
    [withStatus, false],
    [withoutStatus, true],
  ] as const) {
    const object = gadget({ spec: {}, status: { phase: 'Ready' } });
    version.strategy.prepareForCreate(object);
    assert.equal('status' in object, kept);
    assert.equal(object.metadata.generation, 1);
  }
});

test('the generation counts what changes outside metadata, and outside a status subresource', () => {
  const old = gadget({ spec: { name: 'a' }, status: { phase: 'Ready' } });
  const generationOf = (version: typeof withStatus, fields: object, metadata: object = {}): number => {
    const object = gadget(fields, { generation: 9, ...metadata });
    version.strategy.prepareForUpdate(object, old, '');
    return object.metadata.generation!;
  };
  assert.equal(
    generationOf(withStatus, { spec: { name: 'a' }, status: { phase: 'Waiting' } }, { labels: { a: 'b' } }),
    3,
  );
  assert.equal(generationOf(withStatus, { spec: { name: 'b' } }), 4);
  assert.equal(generationOf(withoutStatus, { spec: { name: 'a' }, status: { phase: 'Waiting' } }), 4);
});

test('a write to the status changes nothing else', () => {
  const old = gadget({ spec: { name: 'a' } }, { labels: { a: 'b' } });
  const object = gadget(
    { spec: { name: 'b' }, status: { phase: 'Ready' }, extra: 1 },
    { generation: 7, labels: {}, managedFields: [{ manager: 'm' }] },
  );
  withStatus.strategy.prepareForUpdate(object, old, 'status');
  const metadata = { name: 'g', generation: 3, labels: { a: 'b' }, managedFields: [{ manager: 'm' }] };
  assert.deepEqual(object, { ...gadget({ spec: { name: 'a' }, status: { phase: 'Ready' } }), metadata });
  object.metadata.labels!['a'] = 'changed';
  assert.equal(old.metadata.labels!['a'], 'b');
});

test('rules wait until the object is of their type', () => {
  const object = gadget({ spec: { name: 5, low: 5, high: 3 } });
  const texts = withStatus.strategy.validateCreate(object).map(fieldErrorText);
  assert.ok(texts.some((text) => text.startsWith('spec.name: Invalid value: "integer"')));
  assert.equal(
    texts.at(-1),
    '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  );
});

test('reading an object reports what it removed', () => {
  const object = gadget(
    { spec: { name: 'a', zzz: 1, template: { apiVersion: 'v1', kind: 'Pod', metadata: { foo: 1 } } } },
    { bar: 1 },
  );
  assert.deepEqual(withStatus.decode(object).problems, [
    'unknown field "metadata.bar"',
    'unknown field "spec.zzz"',
    'unknown field "spec.template.metadata.foo"',
  ]);
  assert.match(
    withStatus.decode(gadget({ spec: {} }, { labels: 5 })).error!,
    /cannot unmarshal number into Go struct field ObjectMeta.labels/,
  );
});

test('identical schemas are compiled once', () => {
  const copy = structuredClone(gadgets);
  assert.equal(compileVersion(copy, 'v1')!.schema, withStatus.schema);
  assert.equal(compileVersion(copy, 'v2'), undefined);
});

test('scales map to and from the object', () => {
  const scale = withStatus.scale!;
  const object = gadget({ spec: { replicas: 2 }, status: { replicas: 1, selector: 'a=b' } });
  const read = scale.scaleOf(object);
  assert.deepEqual([read.spec, read.status], [{ replicas: 2 }, { replicas: 1, selector: 'a=b' }]);
  scale.applyScale(object, { ...read, spec: { replicas: 4 } });
  assert.deepEqual(object['spec'], { replicas: 4 });
  assert.throws(() => scale.scaleOf(gadget({ spec: {} })), { code: 'InternalError' });
  assert.throws(
    () => scale.scaleOf(gadget({ spec: { replicas: 'x' } })),
    /accessor error: x is of the type string, expected int64/,
  );
  assert.throws(() => scale.applyScale(object, scale.scaleBeforeUpdate(gadget({ spec: {} }))), { code: 'BadRequest' });
});

test('columns, selectable fields, warnings', () => {
  const schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { color: { type: 'string' } } } },
  } as JsonSchema;
  const crd = definition('Paint', schema, {
    version: { deprecated: true, selectableFields: [{ jsonPath: '.spec.color' }] },
  });
  const spec = crd['spec'] as { versions: object[] };
  spec.versions.push({ name: 'v2', served: true, storage: false }, { name: 'v1beta1', served: true, storage: false });
  const version = compileVersion(crd, 'v1')!;
  assert.equal(version.printerColumns[0]!.name, 'Age');
  assert.deepEqual(version.fieldsOf(gadget({ spec: { color: 'red' } })), { 'spec.color': 'red' });
  assert.deepEqual(version.fieldsOf(gadget({})), { 'spec.color': '' });
  assert.equal(version.deprecationWarning, 'test.example.com/v1 Paint is deprecated; use test.example.com/v2 Paint');
  assert.deepEqual(version.strategy.resetFields(''), []);
  assert.deepEqual(withStatus.strategy.resetFields(''), ['status']);
  assert.equal(version.strategy.warningsOnCreate(gadget({}, { finalizers: ['mine', 'orphan', 'a.b/c'] })).length, 1);
});

test('versions are ordered as Kubernetes orders them', () => {
  const versions = ['foo1', 'v1alpha2', 'v10', 'v1', 'v2beta1', 'v11alpha1', 'bar'];
  assert.deepEqual(
    versions.sort((a, b) => compareVersions(b, a)),
    ['v10', 'v1', 'v2beta1', 'v11alpha1', 'v1alpha2', 'bar', 'foo1'],
  );
});
