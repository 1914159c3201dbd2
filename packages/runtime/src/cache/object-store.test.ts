import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { ApiObject } from '@hangar/client';
import { Indexes } from './indexes.ts';
import { ObjectStore } from './object-store.ts';

const object = (namespace: string, name: string, labels: Record<string, string> = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...(namespace === '' ? {} : { namespace }), name, labels },
});
const valuesOf = ({ metadata }: ApiObject): string[] => Object.values(metadata.labels ?? {});
const setOf = (objects: Iterable<ApiObject>): Set<ApiObject> => new Set(objects);

describe('a store', () => {
  test('has what was put last, also by its indexes, whatever was put and deleted before', () => {
    const step = fc.record({
      namespace: fc.constantFrom('', 'a', 'b'),
      name: fc.constantFrom('x', 'y', 'z'),
      labels: fc.dictionary(fc.constantFrom('k', 'l', 'm'), fc.constantFrom('1', '2')),
      isDeletion: fc.boolean(),
      indexesNow: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (all) => {
        const indexes = new Indexes<ApiObject>(undefined);
        indexes.add('first', valuesOf);
        const store = new ObjectStore(indexes);
        const model = new Map<string, ApiObject>();
        const gone: ApiObject[] = [];
        for (const { namespace, name, labels, isDeletion, indexesNow } of all) {
          const key = `${namespace}/${name}`;
          const before = model.get(key);
          if (before) gone.push(before);
          if (isDeletion) {
            assert.equal(store.delete(namespace, name), before);
            model.delete(key);
          } else {
            const one = object(namespace, name, labels);
            assert.equal(store.put(one), before);
            model.set(key, one);
          }
          if (indexesNow && indexes.add('later', valuesOf)) store.fillIndex('later');
          assert.equal(store.size, model.size);
          assert.equal(store.get(namespace, name), model.get(key));
          assert.deepEqual(setOf(store.all()), setOf(model.values()));
          const within = [...model.values()].filter(({ metadata }) => (metadata.namespace ?? '') === namespace);
          assert.deepEqual(setOf(store.all(namespace)), setOf(within));
          for (const value of ['1', '2']) {
            const expected = setOf([...model.values()].filter((one) => valuesOf(one).includes(value)));
            assert.deepEqual(setOf(store.byIndex('first', value)), expected);
            if (indexes.has('later')) assert.deepEqual(setOf(store.byIndex('later', value)), expected);
            assert.ok(gone.every((one) => !store.hasValue(one, 'first', value)));
            for (const one of model.values()) assert.equal(store.hasValue(one, 'first', value), expected.has(one));
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  test('is read safely while it changes: each object once', () => {
    const store = new ObjectStore<ApiObject>(new Indexes(undefined));
    for (let n = 0; n < 10; n++) store.put(object('a', `${n}`));
    const seen: string[] = [];
    for (const { metadata } of store.all()) {
      seen.push(metadata.name!);
      store.put(object('a', metadata.name!, { touched: 'yes' }));
      store.delete('a', '9');
      if (seen.length < 5) store.put(object('b', `late ${seen.length}`));
    }
    assert.equal(new Set(seen).size, seen.length);
    assert.equal(seen.includes('9'), false);
  });

  test('an object that was changed by somebody still leaves the index where it was', () => {
    const indexes = new Indexes<ApiObject>(undefined);
    indexes.add('labels', valuesOf);
    const store = new ObjectStore(indexes);
    const one = object('a', 'x', { k: '1' });
    store.put(one);
    one.metadata.labels!['k'] = '2';
    store.put(object('a', 'x', { k: '3' }));
    assert.deepEqual(store.byIndex('labels', '1'), []);
  });

  test('an index function is called once a version, may throw, and cannot be replaced', () => {
    let calls = 0;
    const indexes = new Indexes<ApiObject>(undefined);
    indexes.add('counted', ({ metadata }) => {
      calls++;
      if (metadata.name === 'bad') throw new Error('by the test');
      return ['x', 'x'];
    });
    const store = new ObjectStore(indexes);
    store.put(object('a', 'good'));
    store.put(object('a', 'bad'));
    store.put(object('a', 'good'));
    store.delete('a', 'good');
    store.delete('a', 'bad');
    assert.equal(calls, 3);
    assert.deepEqual(store.byIndex('counted', 'x'), []);
    assert.throws(() => indexes.add('counted', () => ['y']), { code: 'InvalidOptions' });
    const make = (): ((one: ApiObject) => string[]) => (one) => [one.kind];
    assert.equal(indexes.add('same', make()), true);
    assert.equal(indexes.add('same', make()), false);
    assert.throws(() => store.byIndex('unknown', ''), { code: 'UnknownIndex' });
  });
});
