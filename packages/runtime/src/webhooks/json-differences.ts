/**
 * Computes the JSON patch (RFC 6902) from one JSON value to another: only differences, with insertions and removals in lists.
 *
 *   from [a, b, c, d]   to [a, c, x, d]   →  remove /1, add /2 x
 *
 * Common prefixes and suffixes of lists are skipped; the middle is aligned by its longest common subsequence up to a size limit, and item
 * by item above. Both values are JSON: no undefined, no dates.
 */

import { isObject } from '@hangar/api/json';
import type { JsonObject } from '@hangar/api/json';
import { sameJson } from '../json/same-json.ts';

export type JsonOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/** Returns the JSON patch operations from one object to another. */
export function jsonDifferences(from: JsonObject, to: JsonObject): JsonOperation[] {
  const operations: JsonOperation[] = [];
  compareObjects(from, to, '', operations, compare);
  if (operations.length <= operationsMax) return operations;
  const coarse: JsonOperation[] = [];
  compareObjects(from, to, '', coarse, replace);
  return coarse;
}

/** API servers accept 10,000; above this number it is shorter to replace the differing part as a whole. */
const operationsMax = 1_000;

/** Maximum number of comparisons for an alignment. */
const comparisonsMax = 20_000;

function compare(from: unknown, to: unknown, path: string, into: JsonOperation[]): void {
  if (isObject(from) && isObject(to)) compareObjects(from, to, path, into, compare);
  else if (Array.isArray(from) && Array.isArray(to)) compareLists(from, to, path, into);
  else if (from !== to) into.push({ op: 'replace', path, value: to });
}

function replace(from: unknown, to: unknown, path: string, into: JsonOperation[]): void {
  if (!sameJson(from, to)) into.push({ op: 'replace', path, value: to });
}

/** A key as a part of a JSON pointer. */
const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

function compareObjects(
  from: JsonObject,
  to: JsonObject,
  path: string,
  into: JsonOperation[],
  compareMember: typeof compare,
): void {
  for (const key of Object.keys(from)) {
    const below = `${path}/${escaped(key)}`;
    if (Object.hasOwn(to, key)) compareMember(from[key], to[key], below, into);
    else into.push({ op: 'remove', path: below });
  }
  for (const key of Object.keys(to)) {
    if (!Object.hasOwn(from, key)) into.push({ op: 'add', path: `${path}/${escaped(key)}`, value: to[key] });
  }
}

function compareLists(from: readonly unknown[], to: readonly unknown[], path: string, into: JsonOperation[]): void {
  let start = 0;
  while (start < from.length && start < to.length && sameJson(from[start], to[start])) start++;
  let [fromEnd, toEnd] = [from.length, to.length];
  while (fromEnd > start && toEnd > start && sameJson(from[fromEnd - 1], to[toEnd - 1]))
    [fromEnd, toEnd] = [fromEnd - 1, toEnd - 1];
  const [before, after] = [from.slice(start, fromEnd), to.slice(start, toEnd)];
  // Index in the list after the operations so far.
  let at = start;
  const change = (removed: readonly unknown[], added: readonly unknown[]): void => {
    const paired = Math.min(removed.length, added.length);
    for (let i = 0; i < paired; i++) compare(removed[i], added[i], `${path}/${at++}`, into);
    for (let i = paired; i < removed.length; i++) into.push({ op: 'remove', path: `${path}/${at}` });
    for (const value of added.slice(paired)) into.push({ op: 'add', path: `${path}/${at++}`, value });
  };
  let [fromDone, toDone] = [0, 0];
  for (const [fromKept, toKept] of commonItems(before, after)) {
    change(before.slice(fromDone, fromKept), after.slice(toDone, toKept));
    [fromDone, toDone, at] = [fromKept + 1, toKept + 1, at + 1];
  }
  change(before.slice(fromDone), after.slice(toDone));
}

/**
 * Returns the indices of a longest common subsequence; none if it would be too expensive. Items are compared by number: the author of an
 * object must not be able to force repeated comparisons of long items.
 */
function commonItems(from: readonly unknown[], to: readonly unknown[]): [number, number][] {
  if (from.length === 0 || to.length === 0 || from.length * to.length > comparisonsMax) return [];
  if (from.length === 1 && to.length === 1) return [];
  const numbers = new Map<string, number>();
  const numberOf = (item: unknown): number => {
    const text = JSON.stringify(item);
    const known = numbers.get(text);
    if (known === undefined) numbers.set(text, numbers.size);
    return known ?? numbers.size - 1;
  };
  return longestCommon(from.map(numberOf), to.map(numberOf));
}

function longestCommon(from: readonly number[], to: readonly number[]): [number, number][] {
  // lengths[i][j]: length of the best alignment from i and j on.
  const lengths = Array.from({ length: from.length + 1 }, () => new Uint16Array(to.length + 1));
  for (let i = from.length - 1; i >= 0; i--) {
    for (let j = to.length - 1; j >= 0; j--) {
      const [skipped, other] = [lengths[i + 1]![j]!, lengths[i]![j + 1]!];
      lengths[i]![j] = from[i] === to[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(skipped, other);
    }
  }
  const kept: [number, number][] = [];
  for (let i = 0, j = 0; i < from.length && j < to.length;) {
    if (from[i] === to[j]) kept.push([i++, j++]);
    else if (lengths[i + 1]![j]! >= lengths[i]![j + 1]!) i++;
    else j++;
  }
  return kept;
}
