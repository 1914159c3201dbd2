/** slice, flatten, range, sort, sortBy, reverse, distinct. */

import { fail } from '../../errors.ts';
import { method, overload } from '../../environment.ts';
import type { Library } from '../../environment.ts';
import { sortableTypes } from '../../cost/actual-extensions.ts';
import { listMacros } from '../../syntax/macros-extended.ts';
import * as t from '../../types.ts';
import { compare, equal } from '../../values/equality.ts';
import { CelList, ValueList } from '../../values/list.ts';
import type { CelInt, CelValue } from '../../values/values.ts';
import { allocate, slotBytes } from '../../work.ts';

const T = t.param('T');
const list = t.listOf(T);

function slice(from: CelList, start: CelInt, end: CelInt): CelList {
  if (start < 0 || end < 0) fail(`cannot slice(${start}, ${end}), negative indexes not supported`);
  if (start > end) fail(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`);
  if (end > from.size) fail(`cannot slice(${start}, ${end}), list is length ${from.size}`);
  const size = Number(end) - Number(start);
  allocate(size * slotBytes);
  return new ValueList(Array.from({ length: size }, (_, index) => from.at(Number(start) + index)));
}

function flatten(from: CelList, depth: CelInt = 1): CelList {
  if (depth < 0) fail('level must be non-negative');
  const flat = (list: CelList, left: number): CelValue[] =>
    list.toArray().flatMap((element) => (left > 0 && element instanceof CelList ? flat(element, left - 1) : [element]));
  return new ValueList(flat(from, Number(depth)));
}

/** Longer than any list an evaluation may afford; without the bound one call could take all memory. */
const rangeMax = 2_000_000;

function range(size: CelInt): CelList {
  if (size > rangeMax) fail(`lists.range(${size}): too many elements`);
  allocate(Math.max(0, Number(size)) * slotBytes);
  return new ValueList(Array.from({ length: Math.max(0, Number(size)) }, (_, index) => index));
}

function sortByKeys(from: CelList, keys: CelList): CelList {
  if (keys.size !== from.size)
    fail(`@sortByAssociatedKeys() expected a list of the same size as the associated keys list`);
  const kind = (value: CelValue): string =>
    value === null ? 'null' : typeof value === 'object' ? value.constructor.name : typeof value;
  const first = keys.size > 0 ? kind(keys.at(0)) : '';
  if (keys.toArray().some((key) => kind(key) !== first)) fail('list elements must have the same type');
  allocate(2 * from.size * slotBytes);
  const order = Array.from({ length: from.size }, (_, index) => index);
  order.sort((a, b) => compare(keys.at(a), keys.at(b)) || a - b);
  return new ValueList(order.map((index) => from.at(index)));
}

function distinct(from: CelList): CelList {
  const seen: CelValue[] = [];
  for (const element of from) if (!seen.some((other) => equal(other, element))) seen.push(element);
  allocate(seen.length * slotBytes);
  return new ValueList(seen);
}

export const extendedLists: Library = {
  name: 'extended lists',
  macros: listMacros,
  functions: {
    slice: [method('list_slice', [list, t.intType, t.intType], list, slice)],
    flatten: [
      method('list_flatten', [t.listOf(list)], list, flatten),
      method('list_flatten_int', [t.listOf(t.dynType), t.intType], t.listOf(t.dynType), flatten),
    ],
    'lists.range': [overload('lists_range', [t.intType], t.listOf(t.intType), range)],
    reverse: [method('list_reverse', [list], list, (from: CelList) => new ValueList(from.toArray().reverse()))],
    distinct: [method('list_distinct', [list], list, distinct)],
    sort: sortableTypes.map((kind) =>
      method(`list_${kind}_sort`, [t.listOf({ kind })], t.listOf({ kind }), (from: CelList) => sortByKeys(from, from)),
    ),
    '@sortByAssociatedKeys': sortableTypes.map((kind) =>
      method(`list_${kind}_sortByAssociatedKeys`, [list, t.listOf({ kind })], list, sortByKeys),
    ),
  },
};
