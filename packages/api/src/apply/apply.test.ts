import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { inSlices } from '@hangar/cel/work';
import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { JsonObject, KubeObject } from '../object.ts';
import { StatusError } from '../status/status.ts';
import { isSubset, parseFieldSet } from './field-set.ts';
import { everyField } from './fields-of.ts';
import { applyObject, deducedMergeType, mergeTypeOfSchema, updateManagedFields } from './index.ts';
import type { Applied, ApplyOptions } from './index.ts';
import { mergeValues } from './merge.ts';
import { ListMerge, MergeType, scalarTypes } from './merge-type.ts';
import { Draw, widget, widgetSchema } from './random-kinds.ts';
import { equalValues } from './values.ts';

const type = mergeTypeOfSchema(widgetSchema);
const { apiVersion, kind } = widget;
const now = '2026-01-01T00:00:00Z';
const config = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name: 'w', ...metadata },
  spec,
});

function apply(
  live: KubeObject | undefined,
  patch: JsonObject,
  manager: string,
  options: Partial<ApplyOptions> = {},
): KubeObject {
  const given = { type, live, patch, manager, force: false, apiVersion, kind, subresource: '', now, resetFields: [] };
  const { object } = applyObject({ ...given, ...options });
  object.metadata.uid = 'u';
  return object;
}

function update(live: KubeObject, spec: JsonObject, manager: string): KubeObject {
  const object = { ...structuredClone(live), spec };
  updateManagedFields({ type, live, object, manager, apiVersion, subresource: '', now, resetFields: [] });
  return object;
}

const specOf = (object: KubeObject): JsonObject => object['spec'] as JsonObject;
const managersOf = ({ metadata }: KubeObject): string[] =>
  metadata.managedFields?.map(({ manager = '', operation }) => `${manager} ${operation}`) ?? [];

suite('server-side apply', () => {
  test('creates what it is given and owns it', () => {
    const object = apply(undefined, config({ set: ['a'], nested: { a: '1' } }), 'one');
    assert.deepEqual(specOf(object), { set: ['a'], nested: { a: '1' } });
    assert.deepEqual(object.metadata.managedFields, [
      {
        manager: 'one',
        operation: 'Apply',
        apiVersion,
        time: now,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { 'f:nested': { 'f:a': {} }, 'f:set': { 'v:"a"': {} } } },
      },
    ]);
  });

  test('removes what it applied before and leaves out now, unless someone else owns it', () => {
    const first = apply(
      undefined,
      config({ map: { a: '1', b: '1' }, keyed: [{ name: 'x', value: 1 }, { name: 'y' }] }),
      'one',
    );
    const shared = apply(first, config({ map: { b: '1' } }), 'two');
    const object = apply(shared, config({ keyed: [{ name: 'y' }] }), 'one');
    assert.deepEqual(specOf(object), { map: { b: '1' }, keyed: [{ name: 'y' }] });
    assert.deepEqual(specOf(shared), { map: { a: '1', b: '1' }, keyed: [{ name: 'x', value: 1 }, { name: 'y' }] });
  });

  test('does not touch what others added to its lists', () => {
    const live = update(apply(undefined, config({ set: ['a'] }), 'one'), { set: ['a', 'b'] }, 'two');
    assert.deepEqual(specOf(apply(live, config({ set: ['c'] }), 'one')), { set: ['b', 'c'] });
  });

  test('refuses to change what others own, names them, and takes it when forced', () => {
    const live = update(apply(undefined, config({ size: 1, maybe: 'x' }), 'one'), { size: 2, maybe: 'x' }, 'two');
    assert.throws(
      () => apply(live, config({ size: 3, maybe: 'x' }), 'one'),
      (error) => {
        assert.ok(error instanceof StatusError);
        assert.equal(error.status.code, 409);
        assert.equal(
          error.message,
          'Apply failed with 1 conflict: conflict with "two" using example.com/v1: .spec.size',
        );
        assert.deepEqual(error.status.details?.causes, [
          { reason: 'FieldManagerConflict', message: 'conflict with "two" using example.com/v1', field: '.spec.size' },
        ]);
        return true;
      },
    );
    const forced = apply(live, config({ size: 3, maybe: 'x' }), 'one', { force: true });
    assert.deepEqual(managersOf(forced), ['one Apply']);
    assert.equal(specOf(forced)['size'], 3);
  });

  test('lists the conflicts with several managers by manager', () => {
    const one = apply(undefined, config({ size: 1 }), 'one');
    const live = update(
      apply(one, config({ nested: { a: '1' } }), 'two'),
      { ...specOf(one), nested: { a: '1' }, maybe: 'x' },
      'three',
    );
    assert.throws(() => apply(live, config({ size: 2, nested: { a: '2' }, maybe: 'y' }), 'four'), {
      message: [
        'Apply failed with 3 conflicts: conflicts with "one":',
        '- .spec.size',
        'conflicts with "three" using example.com/v1:',
        '- .spec.maybe',
        'conflicts with "two":',
        '- .spec.nested.a',
      ].join('\n'),
    });
  });

  test('an object without managers gets one for what it had before', () => {
    const live = { apiVersion, kind, metadata: { name: 'w', uid: 'u' }, spec: { size: 1 } };
    assert.throws(
      () => apply(live, config({ size: 2 }), 'one'),
      /conflict with "before-first-apply" using example.com\/v1: .spec.size/,
    );
    assert.deepEqual(managersOf(apply(live, config({ size: 1 }), 'one')), ['one Apply', 'before-first-apply Update']);
  });

  test('an applier that changes nothing has no time if it is new, and else the one it had', () => {
    const one = apply(undefined, config({ size: 1 }), 'one');
    const { object, changed } = applyObject({
      type,
      live: one,
      patch: config({ size: 1 }),
      manager: 'two',
      force: false,
      apiVersion,
      subresource: '',
      now: 'later',
      resetFields: [],
    });
    assert.equal(changed, false);
    assert.deepEqual(
      object.metadata.managedFields?.map(({ time }) => time),
      [undefined, now],
    );
  });

  test('kubectl takes over what its annotation says was its own, and keeps the annotation', () => {
    const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
    const applied = config({ size: 1 });
    const live = {
      apiVersion,
      kind,
      metadata: { name: 'w', uid: 'u', annotations: { [annotation]: JSON.stringify(applied) } },
      spec: { size: 1, maybe: 'x' },
    };
    const object = apply(live, config({ size: 2 }), 'kubectl');
    assert.equal(
      object.metadata.annotations?.[annotation],
      `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":2}}\n`,
    );
    assert.throws(() => apply(live, config({ maybe: 'y' }), 'kubectl'), /\.spec\.maybe/);
    assert.throws(() => apply(live, config({ size: 2 }), 'other'), /\.spec\.size/);
  });

  test('leaves the live object and the patch as they are, and shares nothing with them', () => {
    const live = apply(undefined, config({ keyed: [{ name: 'x', tags: ['a'] }], free: { a: { b: [1] } } }), 'one');
    const patch = config({ keyed: [{ name: 'y', tags: ['b'] }] });
    const [liveBefore, patchBefore] = [structuredClone(live), structuredClone(patch)];
    const object = apply(live, patch, 'two');
    ((specOf(object)['keyed'] as JsonObject[])[0]!['tags'] as string[]).push('changed');
    ((specOf(object)['keyed'] as JsonObject[])[1]!['tags'] as string[]).push('changed');
    (specOf(object)['free'] as JsonObject)['a'] = 'changed';
    assert.deepEqual([live, patch], [liveBefore, patchBefore]);
  });

  test('keys that JavaScript gives a meaning are keys like others', () => {
    const patch = (text: string): JsonObject => config(JSON.parse(text) as JsonObject);
    const live = apply(undefined, patch('{"map":{"__proto__":"1","constructor":"2"}}'), 'one');
    assert.equal(JSON.stringify(specOf(live)), '{"map":{"__proto__":"1","constructor":"2"}}');
    const object = apply(live, patch('{"map":{"constructor":"3"}}'), 'one');
    assert.equal(JSON.stringify(specOf(object)), '{"map":{"constructor":"3"}}');
    assert.throws(
      () => apply(live, patch('{"__proto__":1}'), 'one'),
      /\.spec\.__proto__: field not declared in schema/,
    );
  });

  test('applies without a schema: maps merge, lists are replaced', () => {
    const options = { type: deducedMergeType };
    const live = apply(undefined, config({ a: { b: 1 }, l: [1] }), 'one', options);
    const object = apply(live, config({ a: { c: 2 }, l: [2] }), 'two', { ...options, force: true });
    assert.deepEqual(specOf(object), { a: { b: 1, c: 2 }, l: [2] });
  });

  test('converts what was applied in another version to remove what is left out', () => {
    const renamed = (object: JsonObject, from: string, to: string): JsonObject => {
      const { [from]: value, ...spec } = object['spec'] as JsonObject;
      return { ...object, spec: value === undefined ? spec : { ...spec, [to]: value } };
    };
    const old = 'example.com/v0';
    const live = apply(undefined, config({ free: { x: 1 }, size: 1 }), 'one');
    live.metadata.managedFields![0]!.apiVersion = old;
    live.metadata.managedFields![0]!.fieldsV1 = { 'f:spec': { 'f:amount': {}, 'f:free': { 'f:x': {} } } };
    const convert: NonNullable<ApplyOptions['convert']> = (object, version) =>
      version === old
        ? { type: deducedMergeType, object: renamed(object, 'size', 'amount') }
        : { type, object: renamed(object, 'amount', 'size') };
    const object = apply(live, config({ free: { x: 1 } }), 'one', { convert });
    assert.deepEqual(specOf(object), { free: { x: 1 } });
    assert.equal(object.metadata.managedFields?.[0]?.apiVersion, apiVersion);
  });
});

suite('of any configurations', () => {
  const seeds = fc.array(fc.integer({ min: 0, max: 1e6 }), { minLength: 1, maxLength: 5 });
  const specs = (all: readonly number[]): JsonObject[] =>
    all.map((seed) => widget.config(new Draw(seed))['spec'] as JsonObject);
  /** Objects that several managers have written. */
  const history = (all: readonly number[]): KubeObject | undefined =>
    specs(all).reduce<KubeObject | undefined>(
      (live, spec, i) =>
        live && i % 3 === 2 ? update(live, spec, `u${i}`) : apply(live, config(spec), `a${i % 2}`, { force: true }),
      undefined,
    );

  test('applying one again changes nothing', () => {
    fc.assert(
      fc.property(seeds, (all) => {
        const spec = specs(all)[0]!;
        const once = apply(history(all), config(spec), 'me', { force: true });
        const again = applyObject({
          type,
          live: once,
          patch: config(spec),
          manager: 'me',
          force: false,
          apiVersion,
          subresource: '',
          now: 'later',
          resetFields: [],
        });
        assert.equal(again.changed, false);
        assert.deepEqual(again.object, once);
      }),
    );
  });

  test('forcing one makes the object have all of it', () => {
    fc.assert(
      fc.property(seeds, (all) => {
        const patch = config(specs(all).at(-1)!);
        const object = apply(history(all), patch, 'me', { force: true });
        assert.ok(equalValues(mergeValues(type, object, patch), object));
      }),
    );
  });

  test('applying one and then nothing takes it away again where it was alone', () => {
    fc.assert(
      fc.property(seeds, (all) => {
        const [spec = {}] = specs(all);
        const base = apply(undefined, config({ size: 1 }), 'base');
        // An empty list that merges has no owner: it stays.
        const others = Object.fromEntries(
          Object.entries(spec).filter(
            ([key, value]) => key !== 'size' && !(Array.isArray(value) && value.length === 0),
          ),
        );
        const object = apply(apply(base, config(others), 'me'), { apiVersion, kind, metadata: { name: 'w' } }, 'me');
        assert.deepEqual(specOf(object), { size: 1 });
        assert.deepEqual(managersOf(object), ['base Apply']);
      }),
    );
  });

  test('every owned field is there, and managers are in order', () => {
    fc.assert(
      fc.property(seeds, (drawn) => {
        const object = history(drawn)!;
        const names = (object.metadata.managedFields ?? []).map(
          ({ operation, time = '', manager }) => `${operation} ${time} ${manager}`,
        );
        assert.deepEqual(names, names.toSorted());
        const all = everyField(type, object);
        for (const { fieldsV1 } of object.metadata.managedFields ?? [])
          assert.ok(isSubset(parseFieldSet(fieldsV1), all));
      }),
    );
  });
});

suite('lists merge', () => {
  const list = new MergeType({ list: new ListMerge('set', [], () => scalarTypes.string) });
  const cases: readonly (readonly [live: string, patch: string, merged: string])[] = [
    ['a b c', 'a b c', 'a b c'],
    ['a b c', 'd', 'a b c d'],
    ['a b c', 'c b a', 'c b a'],
    ['a b c', 'b', 'a b c'],
    ['a b c', 'c a', 'b c a'],
    ['a b c d', 'd x b', 'a c d x b'],
    ['a b', 'x a y b z', 'x a y b z'],
    ['', 'a', 'a'],
    ['a', '', 'a'],
  ];
  for (const [live, patch, merged] of cases) {
    test(`[${live}] with [${patch}] to [${merged}]`, () => {
      const items = (text: string): string[] => (text === '' ? [] : text.split(' '));
      assert.deepEqual(mergeValues(list, items(live), items(patch)), items(merged));
    });
  }
});

suite('apply in slices', () => {
  let nowMs = 0;
  /** A clock on which every slice expires after a few parts. */
  const restless: Clock = { ...systemClock, monotonicMs: () => (nowMs += 2) };
  const limits = { cpuMs: () => (nowMs += 2), totalMs: Infinity };
  const count = 6_000;
  const texts = (from: number): string[] => Array.from({ length: count }, (_, at) => `i${from + at}`);
  const keyed = (from: number, value: string): JsonObject[] =>
    Array.from({ length: 100 }, (_, at) => ({ name: `i${from + at}`, value }));

  /** Applies at once and with a pause after each part, and checks that the objects or errors are equal. */
  async function both(
    live: KubeObject | undefined,
    patch: JsonObject,
    manager: string,
    force: boolean,
  ): Promise<KubeObject> {
    const given = { type: wideType, patch, manager, force, apiVersion, kind, subresource: '', now, resetFields: [] };
    const outcome = async (run: () => Applied | Promise<Applied>): Promise<unknown> => {
      try {
        const { object, changed } = await run();
        return { object, changed };
      } catch (error) {
        return (error as Error).message;
      }
    };
    const [one, other] = [structuredClone(live), structuredClone(live)];
    const expected = await outcome(() => applyObject({ ...given, live: one }));
    const sliced = await outcome(() => inSlices(restless, () => applyObject({ ...given, live: other }), limits));
    assert.deepEqual(sliced, expected);
    return typeof expected === 'string' ? live! : (expected as Applied).object;
  }

  const wideType = mergeTypeOfSchema({
    type: 'object',
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object', properties: { name: { type: 'string' } } },
      spec: {
        type: 'object',
        properties: {
          set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
          map: { type: 'object', additionalProperties: { type: 'string' } },
          list: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
            items: { type: 'object', properties: { name: { type: 'string' }, value: { type: 'string' } } },
          },
        },
      },
    },
  });

  /** Applies, changes, replaces and reverses the result of `spec` for two numbers, for two managers. */
  async function allChanges(spec: (from: number, value: string) => JsonObject): Promise<void> {
    let live = await both(undefined, config(spec(0, 'v')), 'one', false);
    live = await both(live, config(spec(50, 'v')), 'two', false);
    live = await both(live, config(spec(0, 'w')), 'two', false);
    live = await both(live, config(spec(0, 'w')), 'two', true);
    live = await both(live, config({ set: ['a'] }), 'one', true);
    assert.deepEqual(managersOf(live), ['one Apply', 'two Apply']);
  }

  test('gives the same objects and conflicts as apply at once: wide sets and maps', () =>
    allChanges((from, value) => ({
      set: value === 'v' ? texts(from) : texts(from).toReversed(),
      map: Object.fromEntries(texts(0).map((name) => [name, value])),
    })));

  test('gives the same objects and conflicts as apply at once: long lists', () =>
    allChanges((from, value) => ({ list: value === 'v' ? keyed(from, value) : keyed(from, value).toReversed() })));
});
