/** Costs of calls to the list and set extensions, by overload: more precise than one unit. */

import type { CelValue } from '../values/values.ts';
import { CelList } from '../values/list.ts';
import { actualSize, listCost, perCharacter } from './sizes.ts';
import type { CallCost } from './sizes.ts';

export const sortableTypes = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'] as const;

const allocating = (factor: number, size: number): number => Math.floor(size * factor) + 1 + listCost;

/** Every element may be compared with every other one. */
function selfCompare(list: CelValue | undefined): number {
  const size = actualSize(list!);
  const first = list instanceof CelList && size > 0 ? list.at(0) : undefined;
  const text = typeof first === 'string' || first instanceof Uint8Array;
  return allocating(text ? 2 + perCharacter : 2, size * size);
}

const sets =
  (factor: number): CallCost =>
  ([a, b]) =>
    1 + Math.floor(actualSize(a!) * actualSize(b!) * factor);
const flatten: CallCost = ([list, depth]) => allocating(depth === undefined ? 1 : Number(depth), actualSize(list!));
const output: CallCost = (_, result) => allocating(1, actualSize(result));

export const extensionCallCosts: ReadonlyMap<string, CallCost> = new Map<string, CallCost>([
  ['list_slice', output],
  ['lists_range', output],
  ['list_reverse', output],
  ['list_flatten', flatten],
  ['list_flatten_int', flatten],
  ['list_distinct', ([list]) => selfCompare(list)],
  ...sortableTypes.flatMap((type): [string, CallCost][] => [
    [`list_${type}_sort`, ([list]) => selfCompare(list)],
    [`list_${type}_sortByAssociatedKeys`, ([, keys]) => selfCompare(keys)],
  ]),
  ['list_sets_contains_list', sets(1)],
  ['list_sets_intersects_list', sets(1)],
  ['list_sets_equivalent_list', sets(2)],
]);
