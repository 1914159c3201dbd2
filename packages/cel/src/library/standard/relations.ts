/** Equality, order, membership, indexing, logic: declared here; the interpreter has specialized code for most of them. */

import { noSuchOverload } from '../../errors.ts';
import { overload } from '../../environment.ts';
import type { Library, Overload } from '../../environment.ts';
import * as t from '../../types.ts';
import type { Type } from '../../types.ts';
import { compare, contains, equal } from '../../values/equality.ts';
import type { CelList } from '../../values/list.ts';
import type { CelMap } from '../../values/map.ts';
import type { CelValue } from '../../values/values.ts';

const A = t.param('A');
const B = t.param('B');
const numeric: readonly [string, Type][] = [
  ['int64', t.intType],
  ['uint64', t.uintType],
  ['double', t.doubleType],
];
const ordered: readonly [string, Type][] = [
  ['bool', t.boolType],
  ...numeric,
  ['string', t.stringType],
  ['bytes', t.bytesType],
  ['timestamp', t.timestampType],
  ['duration', t.durationType],
];

/** Each ordered type with itself, and each number with every other. */
function orderings(name: string, test: (order: number) => boolean): Overload[] {
  const run = (a: CelValue, b: CelValue): boolean => test(compare(a, b));
  const same = ordered.map(([id, type]) => overload(`${name}_${id}`, [type, type], t.boolType, run));
  const mixed = numeric.flatMap(([left, leftType]) =>
    numeric
      .filter(([right]) => right !== left)
      .map(([right, rightType]) => overload(`${name}_${left}_${right}`, [leftType, rightType], t.boolType, run)),
  );
  return [...same, ...mixed];
}

const unreached = (): never => noSuchOverload();

export const relations: Library = {
  name: 'relations',
  functions: {
    '_==_': [overload('equals', [A, A], t.boolType, (a: CelValue, b: CelValue) => equal(a, b))],
    '_!=_': [overload('not_equals', [A, A], t.boolType, (a: CelValue, b: CelValue) => !equal(a, b))],
    '_<_': orderings('less', (order) => order < 0),
    '_<=_': orderings('less_equals', (order) => order <= 0),
    '_>_': orderings('greater', (order) => order > 0),
    '_>=_': orderings('greater_equals', (order) => order >= 0),
    '@in': [
      overload('in_list', [A, t.listOf(A)], t.boolType, (a: CelValue, list: CelList) => contains(list, a)),
      overload('in_map', [A, t.mapOf(A, B)], t.boolType, (a: CelValue, map: CelMap) => map.has(a)),
    ],
    '_[_]': [
      overload('index_list', [t.listOf(A), t.intType], A, (list: CelList, index: CelValue) => list.get(index)),
      overload('index_map', [t.mapOf(A, B), A], B, (map: CelMap, key: CelValue) => map.get(key)),
    ],
    '_&&_': [overload('logical_and', [t.boolType, t.boolType], t.boolType, unreached)],
    '_||_': [overload('logical_or', [t.boolType, t.boolType], t.boolType, unreached)],
    '_?_:_': [overload('conditional', [t.boolType, A, A], A, unreached)],
    '!_': [overload('logical_not', [t.boolType], t.boolType, (a: boolean) => !a)],
    '@not_strictly_false': [overload('not_strictly_false', [t.boolType], t.boolType, unreached)],
  },
};
