/**
 * Computes the difference between two values of one type, as sets of fields: new or changed ones, and removed ones. Parts that are the same
 * object in both are skipped.
 */

import { isObject } from '../object.ts';
import type { JsonObject } from '../object.ts';
import type { FieldSet } from './field-set.ts';
import { leaf, noFields, partOf, union } from './field-set.ts';
import { everyField, everyItem } from './fields-of.ts';
import { nodeOfItems, nodeOfKeys } from './known-nodes.ts';
import type { Alternative, ListMerge, MergeType } from './merge-type.ts';
import { MapMerge, untypedAtomic } from './merge-type.ts';
import { itemElement } from './path-element.ts';
import { equalValues, isEmptyObject } from './values.ts';

export interface Difference {
  /** New fields, and fields with another value. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

const same: Difference = { changed: noFields, removed: noFields };

/** Throws ElementError for items that have no identity. */
export function compareObjects(type: MergeType, before: JsonObject, after: JsonObject): Difference {
  const found = compare(type, before, after);
  if (!found) return same;
  return { changed: found.changed ?? noFields, removed: found.removed ?? noFields };
}

/** Nodes; undefined if there is no difference. */
interface NodeDifference {
  readonly changed: FieldSet | undefined;
  readonly removed: FieldSet | undefined;
}

const valueChanged: NodeDifference = { changed: leaf, removed: undefined };

function compare(type: MergeType, before: unknown, after: unknown): NodeDifference | undefined {
  if (before === after || type.isUntracked) return undefined;
  const [from, to] = [type.alternativeOf(before), type.alternativeOf(after)];
  const found = compareAs(to, type, before, after);
  return from === to ? found : both(compareAs(from, type, before, after), found);
}

/** When a value changes its form, the old parts are removed and the new parts are added. */
function both(a: NodeDifference | undefined, b: NodeDifference | undefined): NodeDifference | undefined {
  if (!a || !b) return a ?? b;
  return { changed: bothNodes(a.changed, b.changed), removed: bothNodes(a.removed, b.removed) };
}

function bothNodes(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  return a && b ? union({ 'f:': a }, { 'f:': b })['f:'] : (a ?? b);
}

function compareAs(as: Alternative, type: MergeType, before: unknown, after: unknown): NodeDifference | undefined {
  switch (as) {
    case 'scalar':
      return compareWhole(before, after);
    case 'map': {
      const left = isObject(before) ? before : undefined;
      const right = isObject(after) ? after : undefined;
      const isBothEmpty = (!left || isEmptyObject(left)) && (!right || isEmptyObject(right));
      if (type.map!.isAtomic || isBothEmpty) return compareWhole(before, after);
      return compareMaps(type.map!, left ?? {}, right ?? {});
    }
    case 'list': {
      const left = Array.isArray(before) ? before : [];
      const right = Array.isArray(after) ? after : [];
      if (type.list!.isAtomic || (left.length === 0 && right.length === 0)) return compareWhole(before, after);
      return equalValues(left, right) ? undefined : compareLists(type.list!, left, right);
    }
  }
}

const compareWhole = (before: unknown, after: unknown): NodeDifference | undefined =>
  equalValues(before, after) ? undefined : valueChanged;

/** Collects the differences of the parts of a value: by the keys of a map, or by the elements of a list. */
class Gathered {
  readonly #owner: MapMerge | ListMerge;
  readonly #changed: Parts = { names: [], nodes: [] };
  readonly #removed: Parts = { names: [], nodes: [] };

  constructor(owner: MapMerge | ListMerge) {
    this.#owner = owner;
  }

  add(name: string, { changed, removed }: NodeDifference): void {
    if (changed) this.change(name, changed);
    if (removed) this.remove(name, removed);
  }

  change(name: string, node: FieldSet): void {
    this.#changed.names.push(name);
    this.#changed.nodes.push(node);
  }

  remove(name: string, node: FieldSet): void {
    this.#removed.names.push(name);
    this.#removed.nodes.push(node);
  }

  get difference(): NodeDifference {
    return { changed: this.#node(this.#changed), removed: this.#node(this.#removed) };
  }

  #node({ names, nodes }: Parts): FieldSet | undefined {
    if (names.length === 0) return undefined;
    const owner = this.#owner;
    return owner instanceof MapMerge ? nodeOfKeys(owner, false, names, nodes) : nodeOfItems(owner, false, names, nodes);
  }
}

interface Parts {
  readonly names: string[];
  readonly nodes: FieldSet[];
}

function compareMaps(map: MapMerge, before: JsonObject, after: JsonObject): NodeDifference | undefined {
  let gathered: Gathered | undefined;
  // Does not copy the keys. Objects of a request inherit none.
  for (const key in after) {
    const right = after[key];
    const left = Object.hasOwn(before, key) ? before[key] : undefined;
    if (left === right || right === undefined) continue;
    const type = map.typeOf(key) ?? untypedAtomic;
    if (type.isUntracked) continue;
    if (left === undefined) (gathered ??= new Gathered(map)).change(key, everyField(type, right));
    else {
      const found = compare(type, left, right);
      if (found) (gathered ??= new Gathered(map)).add(key, found);
    }
  }
  for (const key in before) {
    const left = before[key];
    if (left === undefined || (Object.hasOwn(after, key) && after[key] !== undefined)) continue;
    const type = map.typeOf(key) ?? untypedAtomic;
    if (!type.isUntracked) (gathered ??= new Gathered(map)).remove(key, everyField(type, left));
  }
  return gathered?.difference;
}

function compareLists(list: ListMerge, before: readonly unknown[], after: readonly unknown[]): NodeDifference {
  if (before.length === 0) return { changed: everyItem(list, after, false), removed: undefined };
  const part = partOf(list, before.length + after.length);
  const left = part(() => itemsByElement(list, before));
  const right = part(() => itemsByElement(list, after));
  const gathered = new Gathered(list);
  for (const [element, items] of right) {
    const old = left.get(element) ?? [];
    const found = part(() => compareItems(list, old, items));
    if (found) gathered.add(element, found);
  }
  for (const [element, items] of left) {
    if (!right.has(element)) gathered.add(element, compareItems(list, items, [])!);
  }
  return gathered.difference;
}

/** Items that occur several times are compared as a whole. */
function compareItems(list: ListMerge, left: unknown[], right: unknown[]): NodeDifference | undefined {
  const { element } = list;
  if (left.length > 1 && right.length > 1) return compareWhole(left, right);
  if (left.length > 1) {
    return { changed: right.length === 1 ? everyField(element, right[0]) : undefined, removed: leaf };
  }
  if (right.length > 1) {
    return { changed: leaf, removed: left.length === 1 ? everyField(element, left[0]) : undefined };
  }
  if (left.length === 0) return { changed: everyField(element, right[0]), removed: undefined };
  if (right.length === 0) return { changed: undefined, removed: everyField(element, left[0]) };
  return compare(element, left[0], right[0]);
}

function itemsByElement(list: ListMerge, items: readonly unknown[]): Map<string, unknown[]> {
  const found = new Map<string, unknown[]>();
  for (const item of items) {
    const element = itemElement(list, item);
    const others = found.get(element);
    if (others) others.push(item);
    else found.set(element, [item]);
  }
  return found;
}
