/**
 * Merges a partial value into a whole one. Nothing is removed: fields that the patch does not name stay, and an explicit null does not
 * empty a list or map that merges. The result shares parts with both; if the patch changes nothing it is the same object.
 */

import { once } from '@hangar/cel/work';
import { isObject } from '../object.ts';
import type { JsonObject } from '../object.ts';
import type { ListMerge, MapMerge, MergeType } from './merge-type.ts';
import { atOnce } from './field-set.ts';
import { untypedAtomic } from './merge-type.ts';
import { itemElement } from './path-element.ts';
import { equalValues, isEmptyObject, own, setOwn } from './values.ts';

/** `patch` is valid: no two items of a list have the same key. Throws ElementError for items that have no identity. */
export function mergeValues(type: MergeType, live: unknown, patch: unknown): unknown {
  if (patch === undefined || live === patch) return live;
  if (live === undefined) return patch;
  switch (type.alternativeOf(patch)) {
    case 'scalar':
      return patch;
    case 'map': {
      const left = isObject(live) && !isEmptyObject(live) ? live : undefined;
      const right = isObject(patch) && !isEmptyObject(patch) ? patch : undefined;
      if (type.map!.isAtomic || !left) return replaced(live, patch);
      return right ? mergeMaps(type.map!, left, right) : live;
    }
    case 'list': {
      const left = Array.isArray(live) && live.length > 0 ? live : undefined;
      const right = Array.isArray(patch) && patch.length > 0 ? patch : undefined;
      if (type.list!.isAtomic || !left) return replaced(live, patch);
      return right ? mergeLists(type.list!, left, right) : live;
    }
  }
}

const replaced = (live: unknown, patch: unknown): unknown => (equalValues(live, patch) ? live : patch);

function mergeMaps(map: MapMerge, live: JsonObject, patch: JsonObject): JsonObject {
  let merged: JsonObject | undefined;
  for (const key of Object.keys(patch)) {
    const old = own(live, key);
    const value = mergeValues(map.typeOf(key) ?? untypedAtomic, old, patch[key]);
    if (value !== old) setOwn((merged ??= copyOf(live)), key, value);
  }
  return merged ?? live;
}

function copyOf(object: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const key of Object.keys(object)) setOwn(copy, key, object[key]);
  return copy;
}

/** Lists with more items than this are merged in parts. */
const wideFrom = 1_000;

/**
 * Items that only one side has keep their place between those of both; if the sides disagree about the order of common items, the patch
 * wins.
 */
function mergeLists(list: ListMerge, live: readonly unknown[], patch: readonly unknown[]): readonly unknown[] {
  const part = live.length + patch.length > wideFrom ? once : atOnce;
  const left = part(() => live.map((item) => itemElement(list, item)));
  const right = part(() => patch.map((item) => itemElement(list, item)));
  if (left.length === right.length && left.every((element, i) => element === right[i])) {
    return sameItems(
      live,
      live.map((item, i) => mergeValues(list.element, item, patch[i])),
    );
  }
  // Items that are there several times do not merge with the patch's, which replaces one of them.
  const leftItems = part(() => {
    const items = new Map<string, unknown>();
    left.forEach((element, i) => items.set(element, items.has(element) ? null : live[i]));
    return items;
  });
  const rightItems = part(() => new Map(right.map((element, i) => [element, patch[i]])));
  const shared = right.filter((element) => leftItems.has(element));
  const done = new Set<string>();
  const out: unknown[] = [];
  let nextShared = 0;
  const take = (element: string): void => {
    done.add(element);
    out.push(mergeValues(list.element, leftItems.get(element), rightItems.get(element)));
  };
  for (let l = 0, r = 0; l < left.length || r < right.length;) {
    const mine = left[l];
    if (mine !== undefined && r < right.length) {
      if (mine === right[r]) {
        take(mine);
        l++;
        r++;
        nextShared++;
        continue;
      }
      if (rightItems.has(mine) && shared[nextShared] !== undefined && shared[nextShared] !== mine) {
        // It comes later, where the patch has it.
        l++;
        continue;
      }
    }
    if (mine !== undefined) {
      if (!rightItems.has(mine)) {
        out.push(live[l]);
        l++;
        continue;
      }
      if (done.has(mine)) l++;
    }
    const theirs = right[r];
    if (theirs !== undefined) {
      take(theirs);
      r++;
      if (shared[nextShared] === theirs) nextShared++;
    }
  }
  return sameItems(live, out);
}

/** The live list itself, if the merged one has its very items. */
const sameItems = (live: readonly unknown[], merged: readonly unknown[]): readonly unknown[] =>
  merged.length === live.length && merged.every((item, i) => item === live[i]) ? live : merged;
