import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuTime } from '@hangar/core/testing';
import { builtinKinds, schemaOf, schemaOfKind } from '../builtin/schemas.ts';
import type { JsonObject } from '../object.ts';
import { StatusError } from '../status/status.ts';
import { randomObject, seededRandom } from '../testing/random-object.ts';
import { goText } from './go-values.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

const pod = schemaOf('v1', 'Pod')!;
const apply = (live: JsonObject, patch: unknown): JsonObject => {
  const before = structuredClone([live, patch]);
  const result = applyStrategicMergePatch(live, patch, pod);
  assert.deepEqual([live, patch], before, 'inputs stay as they are');
  return result;
};
const containers = (...names: readonly string[]): JsonObject => ({
  spec: { containers: names.map((name) => ({ name, image: name })) },
});
const named = (result: JsonObject): string[] =>
  ((result['spec'] as JsonObject)['containers'] as { name: string }[]).map(({ name }) => name);

test('elements merge by their key and new ones come where the patch has them', () => {
  const result = apply(containers('a', 'b', 'c'), { spec: { containers: [{ name: 'b', image: 'x' }, { name: 'd' }] } });
  assert.deepEqual(result, {
    spec: {
      containers: [{ name: 'a', image: 'a' }, { name: 'b', image: 'x' }, { name: 'd' }, { name: 'c', image: 'c' }],
    },
  });
});

test('an element is deleted by its key', () => {
  const patch = { spec: { containers: [{ name: 'a', $patch: 'delete' }] } };
  assert.deepEqual(named(apply(containers('a', 'b'), patch)), ['b']);
});

test('a list is replaced when one of its elements says so', () => {
  const patch = { spec: { containers: [{ name: 'z' }, { $patch: 'replace' }] } };
  assert.deepEqual(named(apply(containers('a', 'b'), patch)), ['z']);
});

test('$setElementOrder decides the order', () => {
  const order = ['c', 'new', 'a'].map((name) => ({ name }));
  const patch = { spec: { '$setElementOrder/containers': order, containers: [{ name: 'new' }] } };
  assert.deepEqual(named(apply(containers('a', 'b', 'c'), patch)), ['b', 'c', 'new', 'a']);
});

test('a list without strategy is replaced', () => {
  const live = { spec: { tolerations: [{ key: 'a' }] } };
  assert.deepEqual(apply(live, { spec: { tolerations: [{ key: 'b' }] } }), { spec: { tolerations: [{ key: 'b' }] } });
});

test('scalars are united, and $deleteFromPrimitiveList takes them out', () => {
  const live = { metadata: { finalizers: ['a', 'b'] } };
  assert.deepEqual(apply(live, { metadata: { finalizers: ['c', 'b'] } }), {
    metadata: { finalizers: ['c', 'a', 'b'] },
  });
  const deletion = { metadata: { '$deleteFromPrimitiveList/finalizers': ['a', 'x'] } };
  assert.deepEqual(apply(live, deletion), { metadata: { finalizers: ['b'] } });
});

test('$retainKeys clears every other key', () => {
  const live = { spec: { volumes: [{ name: 'v', emptyDir: {} }] } };
  const patch = { spec: { volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/' } }] } };
  assert.deepEqual(apply(live, patch), { spec: { volumes: [{ name: 'v', hostPath: { path: '/' } }] } });
});

test('objects are replaced or emptied by their directive', () => {
  const live = { metadata: { labels: { a: '1' }, annotations: { b: '2' } } };
  const patch = { metadata: { labels: { $patch: 'replace', c: '3' }, annotations: { $patch: 'delete', d: '4' } } };
  assert.deepEqual(apply(live, patch), { metadata: { labels: { c: '3' }, annotations: {} } });
});

test('what is new comes without nulls and directives', () => {
  const patch = {
    metadata: {
      labels: { a: null, b: '1' },
      ownerReferences: [
        { $patch: 'delete', uid: 'u' },
        { uid: 'v', name: null },
      ],
    },
  };
  assert.deepEqual(apply({ metadata: {} }, patch), {
    metadata: { labels: { b: '1' }, ownerReferences: [{ uid: 'v' }] },
  });
});

test('null removes a key, and null as a whole patch changes nothing', () => {
  assert.deepEqual(apply({ a: 1, b: 2 }, { a: null, c: null }), { b: 2 });
  assert.deepEqual(apply({ a: 1 }, null), { a: 1 });
});

const refusals: readonly [patch: unknown, code: number, message: RegExp][] = [
  [[], 400, /^json: cannot unmarshal array into Go value of type map\[string\]interface \{\}$/],
  [{ spec: { $patch: 'nonsense' } }, 500, /^unknown patch type: nonsense in map: map\[\$patch:nonsense\]$/],
  [{ spec: { containers: [{ image: 'x' }] } }, 500, /^map: map\[image:x\] does not contain declared merge key: name$/],
  [{ spec: { containers: ['x'] } }, 500, /^list element types are not identical: \[\[map\[.*\] \[x\]\]$/],
  [{ spec: { containers: [null] } }, 500, /^list element types are not identical/],
  [{ spec: { containers: [{ name: 'a', $patch: 'merge' }] } }, 500, /^merging lists cannot yet be specified/],
  [{ $retainKeys: 'x' }, 400, /^invalid patch format of retainKeys$/],
  [{ '$setElementOrder/spec': 'x' }, 500, /^expected a \[\]interface \{\}, but received a string$/],
  [{ '$setElementOrder/unknown': [] }, 500, /^unable to find api field in struct Pod for the json field "unknown"$/],
  [{ spec: { '$setElementOrder/containers': ['a'] } }, 500, /^value for key 0 is not a map$/],
  [{ $deleteFromPrimitiveListX: [] }, 400, /^invalid patch format of primitive list$/],
];

for (const [patch, code, message] of refusals) {
  test(`${JSON.stringify(patch)} is answered with ${code}`, () => {
    assert.throws(
      () => apply(containers('a'), patch),
      (error) => error instanceof StatusError && error.status.code === code && message.test(error.message),
    );
  });
}

test('a fault that kube-apiserver does not classify has no reason', () => {
  try {
    apply(containers('a'), { spec: { $patch: 5 } });
    assert.fail('it was accepted');
  } catch (error) {
    assert.ok(error instanceof StatusError);
    assert.deepEqual(error.status, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'unknown patch type: %!s(int64=5) in map: map[$patch:5]',
      code: 500,
    });
  }
});

test('every kind takes any patch of its shape, or refuses it', () => {
  const random = seededRandom(7);
  let applied = 0;
  for (const kind of builtinKinds()) {
    const struct = schemaOfKind(kind)!;
    const live = randomObject(struct, random);
    const patch = JSON.parse(
      JSON.stringify(randomObject(struct, random)).replaceAll('"a":', '"$patch":'),
    ) as JsonObject;
    try {
      applyStrategicMergePatch(live, patch, struct);
      applied++;
    } catch (error) {
      assert.ok(error instanceof StatusError, `${kind.kind}: ${String(error)}`);
    }
  }
  assert.ok(applied > 100, `${applied} applied`);
});

test('lists of a hundred thousand elements merge in linear time', () => {
  const many = (prefix: string): JsonObject =>
    containers(...Array.from({ length: 100_000 }, (_, at) => `${prefix}${at}`));
  const takenMs = cpuTime();
  const result = applyStrategicMergePatch(many('a'), many('b'), pod);
  assert.equal(named(result).length, 200_000);
  assert.ok(takenMs() < 5000);
});

test('a key named __proto__ is an ordinary key', () => {
  const live = JSON.parse('{"metadata":{"labels":{"__proto__":"a","x":"y"}}}') as JsonObject;
  const patch = JSON.parse(
    '{"metadata":{"labels":{"__proto__":"b"},"annotations":{"__proto__":"c"}},"spec":{"$patch":"replace","__proto__":{}}}',
  ) as JsonObject;
  const result = applyStrategicMergePatch(live, patch, pod);
  assert.equal(
    JSON.stringify(result),
    '{"metadata":{"labels":{"__proto__":"b","x":"y"},"annotations":{"__proto__":"c"}}}',
  );
});

test('values are shown as Go prints them', () => {
  const value = { b: [1, 'x', null, true, 0.5, 1e21, 1e-7], a: { c: {} } };
  assert.equal(goText(value), 'map[a:map[c:map[]] b:[1 x <nil> true 0.5 1e+21 1e-07]]');
});

/** Processor time: the machine may be busy with something else. */
