import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Labels } from './label-requirement.ts';
import { labelSelectorOf, parseLabelSelector } from './label-selector.ts';

const cases: readonly [text: string, matching: Labels[], others: Labels[]][] = [
  ['', [{}, { a: '1' }], []],
  ['a', [{ a: '' }], [{}, { b: '1' }]],
  ['!a', [{}, { b: '1' }], [{ a: '' }]],
  ['a=1', [{ a: '1' }], [{}, { a: '2' }]],
  ['a==1,b', [{ a: '1', b: '' }], [{ a: '1' }, { b: '' }]],
  ['a!=1', [{}, { a: '2' }], [{ a: '1' }]],
  ['a in (1, 2)', [{ a: '1' }, { a: '2' }], [{}, { a: '3' }]],
  ['a notin (1,)', [{}, { a: '3' }], [{ a: '1' }, { a: '' }]],
  ['a>9', [{ a: '10' }, { a: '9223372036854775807' }], [{}, { a: '9' }, { a: 'x' }, { a: '9223372036854775808' }]],
  ['a<9', [{ a: '8' }], [{ a: '9' }, { a: '' }]],
  ['in in (in)', [{ in: 'in' }], [{}]],
  ['a=', [{ a: '' }], [{}, { a: '1' }]],
  ['toString', [], [{}]],
  ['!constructor', [{}], []],
];

for (const [text, matching, others] of cases) {
  test(`'${text}' selects by labels`, () => {
    const selector = parseLabelSelector(text);
    for (const labels of matching) assert.ok(selector.matches(labels), JSON.stringify(labels));
    for (const labels of others) assert.ok(!selector.matches(labels), JSON.stringify(labels));
    assert.equal(selector.isEmpty, text === '');
    assert.deepEqual(parseLabelSelector(`${selector}`).requirements, selector.requirements);
  });
}

const refusals: readonly [text: string, message: RegExp][] = [
  ['a in (b', /^unable to parse requirement: found '', expected: ',' or '\)'$/],
  ['a b', /^unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt$/],
  ['=', /^found '=', expected: !, identifier, or 'end of string'$/],
  ['a,', /^found '', expected: identifier after ','$/],
  ['a=1 2', /^found '2', expected: ',' or 'end of string'$/],
  [
    'a>x',
    /^unable to parse requirement: values\[0\]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer$/,
  ],
  ['a/b/c', /^unable to parse requirement: <nil>: Invalid value: "a\/b\/c": a valid label key/],
  [
    'a in ($,%)',
    /^unable to parse requirement: \[values\[0\]\[a\]: Invalid value: "\$": .*, values\[1\]\[a\]: Invalid value: "%": /,
  ],
];

for (const [text, message] of refusals) {
  test(`'${text}' is refused in the words of kube-apiserver`, () => {
    assert.throws(() => parseLabelSelector(text), { code: 'BadRequest', message });
  });
}

test('labels that are absent are no labels', () => {
  assert.ok(parseLabelSelector('!a').matches(undefined));
});

test('a selector object selects like its text', () => {
  const selector = labelSelectorOf({
    matchLabels: { b: '1' },
    matchExpressions: [
      { key: 'a', operator: 'In', values: ['x', 'y'] },
      { key: 'c', operator: 'NotIn', values: ['z'] },
      { key: 'd', operator: 'Exists' },
      { key: 'e', operator: 'DoesNotExist', values: [] },
    ],
  });
  assert.equal(`${selector}`, 'a in (x,y),b=1,c notin (z),d,!e');
  assert.ok(selector.matches({ a: 'x', b: '1', d: '' }));
  assert.ok(!selector.matches({ a: 'x', b: '1' }));
});

test('an absent selector object selects nothing, an empty one everything', () => {
  assert.deepEqual([labelSelectorOf(undefined).matches({}), labelSelectorOf({}).matches({})], [false, true]);
  assert.deepEqual([labelSelectorOf(null).isEmpty, labelSelectorOf({ matchLabels: null }).isEmpty], [false, true]);
});

test('an invalid selector object is refused', () => {
  const refused = (operator: string, values: readonly string[], message: RegExp): void =>
    assert.throws(() => labelSelectorOf({ matchExpressions: [{ key: 'a', operator, values }] }), { message });
  refused('Near', [], /^"Near" is not a valid label selector operator$/);
  refused('In', [], /^values: Invalid value: \[\]: for 'in', 'notin' operators, values set can't be empty$/);
  refused('Exists', ['x'], /^values: Invalid value: \["x"\]: values set must be empty for exists and does not exist$/);
});
