/** isSorted, sum, min, max, indexOf, lastIndexOf of lists. */

import { fail } from '../errors.ts';
import { method } from '../environment.ts';
import type { Library } from '../environment.ts';
import { sortableTypes } from '../cost/actual-extensions.ts';
import * as t from '../types.ts';
import { compare, equal } from '../values/equality.ts';
import { addInt, toUint } from '../values/integers.ts';
import type { CelList } from '../values/list.ts';
import { durationOf } from '../values/time.ts';
import { Double } from '../values/values.ts';
import type { CelInt, CelValue, Duration, Uint } from '../values/values.ts';

const A = t.param('A');

function isSorted(list: CelList): boolean {
  for (let index = 1; index < list.size; index++) if (compare(list.at(index - 1), list.at(index)) > 0) return false;
  return true;
}

const extreme =
  (name: string, sign: number) =>
  (list: CelList): CelValue => {
    if (list.size === 0) fail(`${name} called on empty list`);
    return list.toArray().reduce((best, next) => (compare(next, best) * sign > 0 ? next : best));
  };

const summable = {
  int: (list: CelList) => list.toArray().reduce<CelInt>((sum, next) => addInt(sum, next as CelInt), 0),
  uint: (list: CelList) => toUint(list.toArray().reduce<bigint>((sum, next) => sum + (next as Uint).value, 0n)),
  double: (list: CelList) => new Double(list.toArray().reduce<number>((sum, next) => sum + (next as Double).value, 0)),
  duration: (list: CelList) =>
    durationOf(list.toArray().reduce<bigint>((sum, next) => sum + (next as Duration).nanos, 0n)),
} as const;

export const lists: Library = {
  name: 'kubernetes lists',
  functions: {
    isSorted: sortableTypes.map((kind) =>
      method(`list_${kind}_is_sorted_bool`, [t.listOf({ kind })], t.boolType, isSorted),
    ),
    sum: Object.entries(summable).map(([kind, run]) => {
      const type = { kind } as t.Type;
      return method(`list_${kind}_sum_${kind}`, [t.listOf(type)], type, run);
    }),
    max: sortableTypes.map((kind) =>
      method(`list_${kind}_max_${kind}`, [t.listOf({ kind })], { kind }, extreme('max', 1)),
    ),
    min: sortableTypes.map((kind) =>
      method(`list_${kind}_min_${kind}`, [t.listOf({ kind })], { kind }, extreme('min', -1)),
    ),
    indexOf: [
      method('list_a_index_of_int', [t.listOf(A), A], t.intType, (list: CelList, value: CelValue) =>
        list.toArray().findIndex((element) => equal(element, value)),
      ),
    ],
    lastIndexOf: [
      method('list_a_last_index_of_int', [t.listOf(A), A], t.intType, (list: CelList, value: CelValue) =>
        list.toArray().findLastIndex((element) => equal(element, value)),
      ),
    ],
  },
};
