import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { schemaOf } from '../builtin/schemas.ts';
import { normalise } from '../fields/normalise.ts';
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../object.ts';
import {
  deducedMergeType,
  keepManagedFieldsTimes,
  managedFieldsProblem,
  mergeTypeOfBuiltin,
  updateManagedFields,
} from './index.ts';
import type { UpdateOptions } from './index.ts';

const now = '2026-01-01T00:00:00Z';
const later = '2026-01-02T00:00:00Z';

const builtin = (apiVersion: string, kind: string, content: JsonObject, metadata: JsonObject = {}): KubeObject =>
  normalise(schemaOf(apiVersion, kind)!, {
    apiVersion,
    kind,
    metadata: { name: 'x', ...metadata },
    ...content,
  }) as KubeObject;
const configMap = (data: JsonObject, metadata: JsonObject = {}): KubeObject =>
  builtin('v1', 'ConfigMap', { data }, metadata);

function own(live: KubeObject | undefined, object: KubeObject, options: Partial<UpdateOptions> = {}): KubeObject {
  const { apiVersion, kind } = object;
  const type = mergeTypeOfBuiltin(schemaOf(apiVersion, kind)!);
  updateManagedFields({
    type,
    live,
    object,
    manager: 'me',
    apiVersion,
    subresource: '',
    now,
    resetFields: [],
    ...options,
  });
  return object;
}

const stored = (object: KubeObject): KubeObject => {
  const copy = structuredClone(object);
  copy.metadata.uid = 'u';
  return copy;
};
/** The object that a client sends back changed: with the managed fields that it got. */
const sentBack = (live: KubeObject, data: JsonObject): KubeObject => ({ ...structuredClone(live), data });
const ownedBy = ({ metadata }: KubeObject, manager: string): unknown =>
  metadata.managedFields?.find((entry) => entry.manager === manager)?.fieldsV1;

suite('ownership after writes', () => {
  test('whoever creates an object owns all that was given and defaulted, but not what is always written', () => {
    const labels = { app: 'x' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const object = own(
      undefined,
      builtin('apps/v1', 'Deployment', { spec: { replicas: 1, selector: { matchLabels: labels }, template } }),
      { resetFields: ['status'] },
    );
    assert.deepEqual(object.metadata.managedFields, [
      {
        manager: 'me',
        operation: 'Update',
        apiVersion: 'apps/v1',
        time: now,
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:spec': {
            'f:replicas': {},
            'f:selector': {},
            'f:template': {
              'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
              'f:spec': {
                'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:image': {}, 'f:name': {}, 'f:resources': {} } },
              },
            },
          },
        },
      },
    ]);
  });

  test('a change moves a field to whoever made it, and a removal takes it from all', () => {
    const live = stored(own(undefined, configMap({ a: '1', b: '1', c: '1' }), { manager: 'first' }));
    const object = own(live, sentBack(live, { a: '1', b: '2' }), { manager: 'second', now: later });
    assert.deepEqual(ownedBy(object, 'first'), { 'f:data': { '.': {}, 'f:a': {} } });
    assert.deepEqual(ownedBy(object, 'second'), { 'f:data': { 'f:b': {} } });
    assert.deepEqual(
      object.metadata.managedFields?.map(({ time }) => time),
      [now, later],
    );
  });

  test('nothing of an unchanged object changes hands, and entries stay as they are', () => {
    const live = stored(own(undefined, configMap({ a: '1' }), { manager: 'first' }));
    const object = own(live, structuredClone(live), { manager: 'second', now: later });
    assert.deepEqual(object, live);
  });

  test('a manager that changes its own field again keeps its fields and gets a new time', () => {
    const live = stored(own(undefined, configMap({ a: '1' })));
    const object = own(live, sentBack(live, { a: '2' }), { now: later });
    assert.deepEqual(object.metadata.managedFields, [{ ...live.metadata.managedFields![0], time: later }]);
  });

  test('an empty name of a manager is unknown', () => {
    assert.equal(
      own(undefined, configMap({ a: '1' }), { manager: '' }).metadata.managedFields?.[0]?.manager,
      'unknown',
    );
  });

  test('a list without entries, or with one empty entry, ends the tracking until something is applied', () => {
    const live = stored(own(undefined, configMap({ a: '1' })));
    for (const reset of [[], [{}]]) {
      const sent = sentBack(live, { a: '2' });
      sent.metadata.managedFields = reset;
      const object = own(live, sent);
      assert.ok(!Object.hasOwn(object.metadata, 'managedFields'));
      const next = own(stored(object), sentBack(stored(object), { a: '3' }));
      assert.equal(next.metadata.managedFields, undefined);
    }
  });

  test('malformed managed fields of clients are ignored, and those of subresources are not looked at', () => {
    const live = stored(own(undefined, configMap({ a: '1' }), { manager: 'first' }));
    const bad: ManagedFieldsEntry[] = [
      { manager: 'bad', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { nonsense: {} } },
    ];
    const sent = sentBack(live, { a: '1', b: '2' });
    sent.metadata.managedFields = bad;
    assert.deepEqual(
      own(live, sent).metadata.managedFields?.map(({ manager }) => manager),
      ['first', 'me'],
    );
    const status = sentBack(live, { a: '1' });
    status.metadata.managedFields = [];
    assert.deepEqual(own(live, status, { subresource: 'status' }).metadata.managedFields, live.metadata.managedFields);
  });

  test('what is wrong with managed fields can be told', () => {
    const good = { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} } as const;
    assert.equal(managedFieldsProblem(undefined), undefined);
    assert.equal(managedFieldsProblem([good]), undefined);
    assert.equal(
      managedFieldsProblem([{ ...good, operation: 'Delete' as never }]),
      'operation must be `Apply` or `Update`',
    );
    assert.equal(managedFieldsProblem([{ ...good, apiVersion: '' }]), 'apiVersion must not be empty');
    assert.equal(
      managedFieldsProblem([good, { ...good, fieldsType: '' }]),
      'missing fieldsType in managed fields entry 1',
    );
    assert.equal(
      managedFieldsProblem([{ ...good, fieldsType: 'V2' }]),
      'invalid fieldsType "V2" in managed fields entry 0',
    );
  });

  test('fields that a subresource cannot write are not owned', () => {
    const live = stored(own(undefined, configMap({ a: '1' })));
    const sent = sentBack(live, { a: '2' });
    sent.metadata.labels = { x: 'y' };
    const object = own(live, sent, { manager: 'other', resetFields: ['data'] });
    assert.deepEqual(ownedBy(object, 'other'), { 'f:metadata': { 'f:labels': { '.': {}, 'f:x': {} } } });
    assert.deepEqual(ownedBy(object, 'me'), { 'f:data': { '.': {}, 'f:a': {} } });
  });

  test('only the fields of a narrow subresource are owned', () => {
    const pod = (containers: JsonObject[]): KubeObject => builtin('v1', 'Pod', { spec: { containers } });
    const live = stored(own(undefined, pod([{ name: 'a', image: 'i' }])));
    const sent = { ...pod([{ name: 'a', image: 'j', resources: { limits: { cpu: '1' } } }]) };
    const object = own(live, sent, {
      manager: 'other',
      subresource: 'resize',
      onlyFields: ['spec.containers.*.resources'],
    });
    assert.deepEqual(ownedBy(object, 'other'), {
      'f:spec': { 'f:containers': { 'k:{"name":"a"}': { 'f:resources': { 'f:limits': { '.': {}, 'f:cpu': {} } } } } },
    });
  });

  test('managers of other versions see the change in their version, and go with it', () => {
    const live = stored(own(undefined, configMap({ a: '1', b: '1' })));
    live.metadata.managedFields = ['old', 'gone'].map((version) => ({
      ...live.metadata.managedFields![0]!,
      manager: version,
      apiVersion: version,
    }));
    const type = deducedMergeType;
    const convert: NonNullable<UpdateOptions['convert']> = (object, version) =>
      version === 'old' ? { type, object } : undefined;
    const object = own(live, sentBack(live, { a: '2', b: '1' }), { convert });
    assert.deepEqual(ownedBy(object, 'old'), { 'f:data': { '.': {}, 'f:b': {} } });
    assert.equal(ownedBy(object, 'gone'), undefined);
    const unconverted = own(live, sentBack(live, { a: '2', b: '1' }));
    assert.deepEqual(ownedBy(unconverted, 'gone'), live.metadata.managedFields[1]!.fieldsV1);
  });

  test('keys that JavaScript gives a meaning are keys like others', () => {
    const data = JSON.parse('{"__proto__":"1","constructor":"2","toString":"3"}') as JsonObject;
    const live = stored(own(undefined, configMap(data)));
    assert.deepEqual(ownedBy(live, 'me'), {
      'f:data': { '.': {}, 'f:__proto__': {}, 'f:constructor': {}, 'f:toString': {} },
    });
    const object = own(live, sentBack(live, JSON.parse('{"__proto__":"2","constructor":"2"}') as JsonObject), {
      manager: 'b',
    });
    assert.deepEqual(ownedBy(object, 'b'), { 'f:data': { 'f:__proto__': {} } });
    assert.deepEqual(ownedBy(object, 'me'), { 'f:data': { '.': {}, 'f:constructor': {} } });
  });

  test('items without identity cost the object its managed fields, not the request', () => {
    const type = mergeTypeOfBuiltin(schemaOf('v1', 'ConfigMap')!);
    const object = configMap({});
    object.metadata.finalizers = [null as never];
    updateManagedFields({
      type,
      live: undefined,
      object,
      manager: 'me',
      apiVersion: 'v1',
      subresource: '',
      now,
      resetFields: [],
    });
    assert.equal(object.metadata.managedFields, undefined);
  });

  test('very many managers and very many fields do not multiply', { timeout: 20_000 }, () => {
    const live = stored(own(undefined, configMap({ a: '1' })));
    const many = Array.from({ length: 4000 }, (_, i) => i);
    const sent = sentBack(live, Object.fromEntries(many.map((i) => [`k${i}`, 'x'])));
    sent.metadata.managedFields = many.map((i) => ({
      manager: `m${i}`,
      operation: 'Update',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { [`f:other${i}`]: {} } },
    }));
    const object = own(live, sent, { now: later });
    const entries = object.metadata.managedFields ?? [];
    assert.equal(entries.length, 10);
    assert.equal(
      Object.keys(entries.find(({ manager }) => manager === 'ancient-changes')!.fieldsV1!['f:data']!).length,
      3992,
    );
  });

  test('times alone do not make a change', () => {
    const live = stored(own(undefined, configMap({ a: '1' })));
    const object = structuredClone(live);
    object.metadata.managedFields![0]!.time = later;
    assert.ok(keepManagedFieldsTimes(object, live));
    assert.deepEqual(object, live);
    const other = sentBack(object, { a: '2' });
    other.metadata.managedFields![0]!.time = later;
    assert.ok(!keepManagedFieldsTimes(other, live));
    assert.equal(other.metadata.managedFields![0]!.time, later);
  });
});
