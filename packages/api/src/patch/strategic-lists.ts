/**
 * Lists in a strategic merge patch: elements are merged by their merge key, scalars are united, and the order of the result follows
 * `$setElementOrder`, then the patch, then the live list.
 *
 *   live [a b c d], patch [c' x], no order given  →  [a b c' x d]
 *
 * Every step is linear in the lists: clients choose their length.
 */

import { isObject } from '../object.ts';
import type { JsonObject } from '../object.ts';
import { unprocessable } from './errors.ts';
import { UnclassifiedError } from '../status/status.ts';
import { goString, goText, goType } from './go-values.ts';
import { get, has } from './record.ts';

export type List = readonly unknown[];

export const directiveKey = '$patch';

export const badType = (expected: string, actual: unknown): Error =>
  new UnclassifiedError(`expected a ${expected}, but received a ${goType(actual) ?? '%!s(<nil>)'}`);
export const mapType = 'map[string]interface {}';
export const listType = '[]interface {}';

export const badDirective = (directive: unknown, map: JsonObject): Error =>
  new UnclassifiedError(`unknown patch type: ${goString(directive)} in map: ${goText(map)}`);

/** Returns the common type of all elements. */
export function elementType(...lists: readonly List[]): string {
  let common: string | undefined;
  for (const list of lists) {
    for (const element of list) {
      const type = goType(element);
      if (Array.isArray(element) && common === undefined) throw unprocessable('lists of lists are not supported');
      if (type === undefined || (common !== undefined && type !== common)) {
        throw new UnclassifiedError(`list element types are not identical: ${goText(lists)}`);
      }
      common = type;
    }
  }
  if (common === undefined) throw new UnclassifiedError('no elements in any of the given slices');
  return common;
}

export interface ListMerge {
  /** Empty for lists of scalars. */
  readonly mergeKey: string;
  /** Go's kind of the elements' type. */
  readonly goKind: string;
  mergeElement(live: JsonObject, patch: JsonObject): JsonObject;
}

/** At least one of the lists has elements. */
export function mergeLists(live: List, patch: List, merge: ListMerge): List {
  if (elementType(live, patch) !== mapType) {
    return arrange({ items: [...new Set([...live, ...patch])], first: patch, live, mergeKey: merge.mergeKey });
  }
  if (merge.mergeKey === '') {
    throw new UnclassifiedError(`cannot merge lists without merge key for ${merge.goKind}`);
  }
  const { kept, changes } = applyElementDirectives(live as JsonObject[], patch as JsonObject[], merge.mergeKey);
  const items = mergeElements(kept, changes, merge);
  return arrange({ items, first: changes, live: kept, mergeKey: merge.mergeKey });
}

/** `$deleteFromPrimitiveList`. */
export function deleteFromList(live: List, deletions: List): List {
  const gone = new Set(deletions);
  return live.filter((element) => !gone.has(element));
}

/** Elements that carry `$patch`: `delete` drops one of the live list, `replace` all of it. */
function applyElementDirectives(
  live: readonly JsonObject[],
  patch: readonly JsonObject[],
  mergeKey: string,
): { kept: readonly JsonObject[]; changes: readonly JsonObject[]; replaces: boolean } {
  const changes: JsonObject[] = [];
  const deleted = new Set<unknown>();
  let replaces = false;
  for (const element of patch) {
    const directive = get(element, directiveKey);
    if (!has(element, directiveKey)) changes.push(element);
    else if (directive === 'delete') deleted.add(keyOf(element, mergeKey));
    else if (directive === 'replace') replaces = true;
    else if (directive === 'merge') throw new UnclassifiedError('merging lists cannot yet be specified in the patch');
    else throw badDirective(directive, element);
  }
  if (replaces) return { kept: changes, changes: [], replaces };
  const stays = (element: JsonObject): boolean => !has(element, mergeKey) || !deleted.has(element[mergeKey]);
  return { kept: deleted.size === 0 ? live : live.filter(stays), changes, replaces };
}

/**
 * Returns the live order for `$setElementOrder` after the lists are merged. kube-apiserver deletes in place: elements that the patch adds
 * move to the positions at the end that deletions freed, and count as live ones.
 */
export function liveOrderAfter(live: List, patch: List, mergeKey: string): List {
  if (mergeKey === '') return live;
  const { kept, changes, replaces } = applyElementDirectives(live as JsonObject[], patch as JsonObject[], mergeKey);
  if (replaces) return live;
  const known = new Set(kept.map((element) => get(element, mergeKey)));
  const added = changes.filter((element) => !known.has(get(element, mergeKey)));
  return [...kept, ...added.slice(0, live.length - kept.length)];
}

function mergeElements(live: readonly JsonObject[], patch: readonly JsonObject[], merge: ListMerge): JsonObject[] {
  const merged = [...live];
  const places = firstPlaces(live, (element) => get(element, merge.mergeKey));
  for (const element of patch) {
    const value = keyOf(element, merge.mergeKey);
    const place = places.get(value);
    if (place === undefined) places.set(value, merged.push(element) - 1);
    else merged[place] = merge.mergeElement(merged[place]!, element);
  }
  return merged;
}

/**
 * Orders `items`: those in `first` by its order, the others by that of the live list, interleaved so that an element stays before one that
 * it preceded in the live list.
 */
export function arrange(lists: { items: List; first: List; live: List; mergeKey: string }): List {
  const { items, live, mergeKey } = lists;
  const valueOf = (element: unknown): unknown => (mergeKey === '' ? element : keyOf(element, mergeKey));
  const wanted = firstPlaces(lists.first, valueOf);
  const lived = firstPlaces(live, valueOf);
  const named = sortByPlace(
    items.filter((item) => wanted.has(valueOf(item))),
    (item) => wanted.get(valueOf(item)),
  );
  const others = sortByPlace(
    items.filter((item) => !wanted.has(valueOf(item))),
    (item) => lived.get(valueOf(item)),
  );
  const woven: unknown[] = [];
  let next = 0;
  for (const item of named) {
    // An item that the live list does not have precedes nothing.
    const bound = lived.get(valueOf(item)) ?? -1;
    while (next < others.length && (lived.get(valueOf(others[next])) ?? Infinity) < bound) woven.push(others[next++]);
    woven.push(item);
  }
  return [...woven, ...others.slice(next)];
}

/** Up to this length, Go's stable sort is an insertion sort. */
const insertionSortMax = 20;

/**
 * Stable. kube-apiserver's comparison returns less if a position is missing, so the result depends on its algorithm: an insertion sort for
 * short lists. In longer ones the items without position come first, the last of them first.
 */
function sortByPlace(items: List, placeOf: (item: unknown) => number | undefined): List {
  if (items.length > insertionSortMax) {
    const placed = items.filter((item) => placeOf(item) !== undefined);
    const strangers = items.filter((item) => placeOf(item) === undefined).reverse();
    return [...strangers, ...placed.sort((a, b) => placeOf(a)! - placeOf(b)!)];
  }
  const sorted: unknown[] = [];
  for (const item of items) {
    const place = placeOf(item) ?? -1;
    let at = sorted.length;
    while (at > 0 && place < (placeOf(sorted[at - 1]) ?? Infinity)) at--;
    sorted.splice(at, 0, item);
  }
  return sorted;
}

function firstPlaces<T>(list: readonly T[], valueOf: (element: T) => unknown): Map<unknown, number> {
  const places = new Map<unknown, number>();
  for (const [place, element] of list.entries()) {
    const value = valueOf(element);
    if (!places.has(value)) places.set(value, place);
  }
  return places;
}

/** Returns the value that identifies an element. */
export function keyOf(element: unknown, mergeKey: string): unknown {
  if (!isObject(element)) throw badType(mapType, element);
  if (!has(element, mergeKey)) {
    throw new UnclassifiedError(`map: ${goText(element)} does not contain declared merge key: ${mergeKey}`);
  }
  return element[mergeKey];
}
