import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import type { FieldSet } from './field-set.ts';
import {
  difference,
  differenceBelow,
  equalSets,
  fieldSetOf,
  hasPath,
  intersection,
  isMember,
  isSubset,
  noFields,
  parseFieldSet,
  shownPaths,
  union,
} from './field-set.ts';
import { compareElements } from './path-element.ts';

const element = fc.constantFrom(
  'f:a',
  'f:b',
  'f:c',
  'k:{"n":"x"}',
  'k:{"n":"y","p":80}',
  'v:"a"',
  'v:1',
  'v:10',
  'v:2',
  'i:3',
);
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const paths = fc.array(path, { maxLength: 12 });

/** The model: a set of paths as texts. */
const keys = (all: readonly (readonly string[])[]): Set<string> => new Set(all.map((one) => one.join('/')));
const setOf = (all: readonly (readonly string[])[]): FieldSet =>
  all.reduce<FieldSet>(
    (set, one) =>
      union(
        set,
        one.reduceRight<FieldSet>((below, name) => ({ [name]: below }), {}),
      ),
    noFields,
  );

function* members(set: FieldSet, prefix: readonly string[] = []): Generator<string> {
  for (const [name, node] of Object.entries(set)) {
    if (name === '.') continue;
    if (isMember(node)) yield [...prefix, name].join('/');
    yield* members(node, [...prefix, name]);
  }
}
const contents = (set: FieldSet): string[] => [...members(set)].sort();
const isCanonical = (set: FieldSet): boolean =>
  JSON.stringify(parseFieldSet(JSON.parse(JSON.stringify(set)))) === JSON.stringify(set);

suite('sets of fields', () => {
  test('are what a set of paths is, whatever is done with them', () => {
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const [left, right] = [setOf(a), setOf(b)];
        const [x, y] = [keys(a), keys(b)];
        const results: [FieldSet, Set<string>][] = [
          [union(left, right), x.union(y)],
          [difference(left, right), x.difference(y)],
          [intersection(left, right), x.intersection(y)],
        ];
        for (const [found, expected] of results) {
          assert.deepEqual(contents(found), [...expected].sort());
          assert.ok(isCanonical(found), JSON.stringify(found));
        }
        assert.equal(isSubset(left, right), x.isSubsetOf(y));
        assert.equal(equalSets(left, right), x.isSubsetOf(y) && y.isSubsetOf(x));
        for (const one of [...a, ...b]) assert.equal(hasPath(left, one), x.has(one.join('/')));
      }),
    );
  });

  test('lose what lies below a member when told so', () => {
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const isBelow = (one: readonly string[]): boolean =>
          b.some((other) => other.every((name, i) => one[i] === name));
        const expected = keys(a.filter((one) => !isBelow(one)));
        assert.deepEqual(contents(differenceBelow(setOf(a), setOf(b))), [...expected].sort());
      }),
    );
  });

  test('stay the same objects when nothing changes', () => {
    const set = fieldSetOf(['a.b', 'a.c', 'd']);
    assert.equal(union(set, fieldSetOf(['a.c'])), set);
    assert.equal(difference(set, fieldSetOf(['a', 'x.y'])), set);
    assert.equal(union(set, fieldSetOf(['e']))['f:a'], set['f:a']);
  });

  test('are read in canonical form whatever form they come in', () => {
    const given = {
      'v:2': {},
      'f:b': { 'f:x': {}, '.': {} },
      'k:{ "q":1,"p":"<" }': { '.': {} },
      'f:a': null,
      'x:unknown': {},
      '.': {},
      'v:10': {},
    };
    const expected = '{"f:a":{},"f:b":{".":{},"f:x":{}},"k:{\\"p\\":\\"\\\\u003c\\",\\"q\\":1}":{},"v:2":{},"v:10":{}}';
    assert.equal(JSON.stringify(parseFieldSet(given)), expected);
  });

  test('that are canonical are not copied', () => {
    const given = { 'f:a': { '.': {}, 'f:b': {} }, 'k:{"n":1}': {} };
    assert.equal(parseFieldSet(given), given);
  });

  test('that are malformed are refused', () => {
    for (const bad of [
      { 'k:{': {} },
      { a: {} },
      { abc: {} },
      { 'f:a': 1 },
      { 'i:x': {} },
      { 'f:a': { 'v:': {} } },
      { 'k:1': {} },
    ]) {
      assert.throws(() => parseFieldSet(bad), JSON.stringify(bad));
    }
    assert.throws(() => parseFieldSet([]));
  });

  test('show members of one level before what is below them', () => {
    const set = parseFieldSet({
      'f:a': { '.': {}, 'f:c': {} },
      'f:b': {},
      'f:l': { 'k:{"name":"x","port":80}': { 'f:i': {} }, 'v:"s"': {} },
    });
    assert.deepEqual([...shownPaths(set)], ['.a', '.b', '.a.c', '.l[="s"]', '.l[name="x",port=80].i']);
  });

  test('order elements as Go does: bytes of names, numbers by value, kinds apart', () => {
    const ordered = [
      'f:a',
      'f:a b',
      'f:ab',
      'f:\uffee',
      'f:\u{1f600}',
      'k:{"n":"a"}',
      'k:{"n":"a b"}',
      'k:{"n":"a","p":1}',
      'k:{"o":1}',
      'v:2',
      'v:10',
      'v:"10"',
      'v:false',
      'v:true',
      'v:null',
      'i:2',
      'i:10',
    ];
    // An item that has fewer keys comes first, but its first key decides before.
    const expected = ordered.toSpliced(6, 2, 'k:{"n":"a","p":1}', 'k:{"n":"a b"}');
    assert.deepEqual(expected.toReversed().sort(compareElements), expected);
  });
});
