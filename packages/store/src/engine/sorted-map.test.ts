import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { compareKeys, everything, inRange } from '../keys.ts';
import { SortedMap } from './sorted-map.ts';

const key = fc.oneof(
  fc.nat(2_000).map((n) => `k${n}`),
  fc.string({ unit: 'binary', maxLength: 3 }),
);
const change = fc.tuple(key, fc.option(fc.nat(), { nil: undefined }));

/** Expected content of the map, kept as an array that is sorted each time. */
function apply(changes: readonly (readonly [string, number | undefined])[]): {
  map: SortedMap<number>;
  model: [string, number][];
} {
  const map = new SortedMap<number>();
  const held = new Map<string, number>();
  for (const [key, value] of changes) {
    if (value === undefined) assert.equal(map.delete(key), held.delete(key));
    else {
      map.set(key, value);
      held.set(key, value);
    }
    assert.equal(map.size, held.size);
  }
  return { map, model: [...held].sort(([a], [b]) => compareKeys(a, b)) };
}

describe('a sorted map', () => {
  test('holds what a sorted array holds, in the same order', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 600, size: 'max' }), (changes) => {
        const { map, model } = apply(changes);
        assert.deepEqual([...map.entries(everything)], model);
        for (const [key, value] of model) assert.equal(map.get(key), value);
      }),
      { numRuns: 60 },
    );
  });

  test('cuts a range as a filter does', () => {
    const range = fc.record({ start: fc.oneof(key, fc.constant('')), end: fc.option(key, { nil: undefined }) });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 600, size: 'max' }), range, (changes, { start, end }) => {
        const { map, model } = apply(changes);
        const bounds = end === undefined ? { start } : { start, end };
        const expected = model.filter(([key]) => inRange(key, bounds));
        const values = expected.map(([, value]) => value);
        assert.deepEqual([...map.entries(bounds)], expected);
        assert.deepEqual(map.values(bounds), values);
        assert.deepEqual(map.values(bounds, 7), values.slice(0, 7));
        assert.equal(map.count(bounds), values.length);
      }),
      { numRuns: 100 },
    );
  });

  test('stays right through many chunks, filled and emptied in every direction', () => {
    const keys = Array.from({ length: 3_000 }, (_, at) => `k${String(at).padStart(5, '0')}`);
    const orders = {
      upwards: keys,
      downwards: keys.toReversed(),
      scattered: keys.map((_, at) => keys[(at * 1_009) % keys.length]!),
    };
    for (const [filling, fill] of Object.entries(orders)) {
      for (const [emptying, empty] of Object.entries(orders)) {
        const map = new SortedMap<string>();
        for (const key of fill) map.set(key, key);
        assert.deepEqual(
          [...map.entries(everything)].map(([key]) => key),
          keys,
          filling,
        );
        for (const key of empty.slice(0, 2_900)) assert.ok(map.delete(key));
        const left = new Set(empty.slice(2_900));
        assert.deepEqual(
          [...map.entries(everything)].map(([key]) => key),
          keys.filter((key) => left.has(key)),
          `${filling}, ${emptying}`,
        );
        for (const key of left) assert.ok(map.delete(key));
        assert.deepEqual([...map.entries(everything)], []);
        assert.equal(map.delete(keys[0]!), false);
      }
    }
  });

  test('changing a value keeps the key in its place', () => {
    const map = new SortedMap<number>();
    for (const key of ['b', 'a', 'c']) map.set(key, 1);
    map.set('b', 2);
    assert.deepEqual(
      [...map.entries({ start: 'a', end: 'c' })],
      [
        ['a', 1],
        ['b', 2],
      ],
    );
    assert.equal(map.size, 3);
  });
});
