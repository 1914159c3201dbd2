import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isApplied } from './apply.ts';

const cases: [title: string, wanted: unknown, actual: unknown, isSame: boolean][] = [
  ['defaults of the server do not matter', { a: 1 }, { a: 1, b: 2 }, true],
  ['a changed field differs', { a: 1 }, { a: 2 }, false],
  ['a removed field differs', { a: { b: 1 } }, { a: {} }, false],
  ['an absent wish does not matter', { a: undefined }, {}, true],
  ['an empty object may be absent', { emptyDir: {} }, {}, true],
  ['a list has the same items in the same order', ['--a', '--b'], ['--a', '--b'], true],
  ['a longer list of plain items differs', ['--a'], ['--a', '--b'], false],
  ['another order differs', ['--a', '--b'], ['--b', '--a'], false],
  ['others may add named items', [{ name: 'a' }], [{ name: 'injected' }, { name: 'a', image: 'x' }], true],
  ['a missing named item differs', [{ name: 'a' }], [{ name: 'b' }], false],
  ['a changed named item differs', [{ name: 'a', image: 'x' }], [{ name: 'a', image: 'y' }], false],
  ['quantities are compared by amount', { cpu: '1000m', memory: '1024Mi' }, { cpu: '1', memory: '1Gi' }, true],
  ['a number is a quantity as well', { cpu: 2 }, { cpu: '2' }, true],
  ['different quantities differ', { cpu: '1000m' }, { cpu: '2' }, false],
  ['an object is not a text', { a: { b: 1 } }, { a: 'b' }, false],
];

for (const [title, wanted, actual, isSame] of cases) {
  test(title, () => assert.equal(isApplied(wanted, actual), isSame));
}
