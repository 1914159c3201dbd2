import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelsText, selectorCell, selectorDump, selectorText } from './selector-text.ts';
import type { LabelSelector } from './selector-text.ts';

test('labels are shown in order', () => {
  assert.equal(labelsText(undefined), '<none>');
  assert.equal(labelsText({ b: '2', a: '1', 'a-b': '' }), 'a-b=,a=1,b=2');
});

const expression = (key: string, operator: string, ...values: string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, values }],
});

const selectors: readonly (readonly [LabelSelector | undefined, text: string | undefined])[] = [
  [undefined, ''],
  [{}, ''],
  [{ matchLabels: { b: '2', a: '1' } }, 'a=1,b=2'],
  [expression('a', 'In', 'y', 'x'), 'a in (x,y)'],
  [expression('a', 'NotIn', 'x'), 'a notin (x)'],
  [expression('a', 'Exists'), 'a'],
  [expression('a', 'DoesNotExist'), '!a'],
  [{ ...expression('b', 'Exists'), matchLabels: { c: '1', a: '2' } }, 'a=2,b,c=1'],
  [expression('a', 'In'), undefined],
  [expression('a', 'Exists', 'x'), undefined],
  [expression('a', 'DoesNotExist', 'x'), undefined],
  [expression('a', 'Near', 'x'), undefined],
  [expression('-', 'Exists'), undefined],
  [{ matchLabels: { a: 'no value' } }, undefined],
];

for (const [selector, text] of selectors) {
  test(`the selector ${JSON.stringify(selector)} is ${text === undefined ? 'not valid' : JSON.stringify(text)}`, () => {
    assert.equal(selectorText(selector), text);
    assert.equal(selectorCell(selector), text === undefined ? '<error>' : text || '<none>');
  });
}

test('the dump of a selector is that of Go', () => {
  assert.equal(
    selectorDump({
      matchLabels: { b: 'c', a: 'b' },
      matchExpressions: [{ key: 'k', operator: 'In', values: ['x', 'w'] }],
    }),
    '&LabelSelector{MatchLabels:map[string]string{a: b,b: c,},' +
      'MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[x w],},},}',
  );
});
