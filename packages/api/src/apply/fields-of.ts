/**
 * Returns the fields of a value: those that a manager owns by applying it (`appliedFields`), and all of a part that is added or removed as
 * a whole (`everyField`). Named fields of structs are owned through their contents; keys of maps and items of lists are owned themselves
 * too.
 */

import { isObject } from '../object.ts';
import type { JsonObject } from '../object.ts';
import type { FieldSet } from './field-set.ts';
import { atOnce, leaf, noFields, partOf } from './field-set.ts';
import { nodeOfItems, nodeOfKeys } from './known-nodes.ts';
import type { ListMerge, MapMerge, MergeType } from './merge-type.ts';
import { untypedAtomic } from './merge-type.ts';
import { itemElement } from './path-element.ts';
import { isEmptyObject } from './values.ts';

/** Throws ElementError for items that have no identity. */
export const appliedFields = (type: MergeType, value: unknown): FieldSet => applied(type, value, false) ?? noFields;

function applied(type: MergeType, value: unknown, isSelf: boolean): FieldSet | undefined {
  switch (type.alternativeOf(value)) {
    case 'scalar':
      return leaf;
    case 'list':
      if (type.list!.isAtomic) return leaf;
      return Array.isArray(value) ? appliedItems(type.list!, value, isSelf) : isSelf ? leaf : undefined;
    case 'map':
      if (type.map!.isAtomic) return leaf;
      return isObject(value) ? appliedKeys(type.map!, value, isSelf) : isSelf ? leaf : undefined;
  }
}

function appliedKeys(map: MapMerge, object: JsonObject, isSelf: boolean): FieldSet | undefined {
  const keys: string[] = [];
  const children: FieldSet[] = [];
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (value === undefined) continue;
    const field = map.field(key);
    const isOwnedItself = !field || value === null || (isObject(value) && isEmptyObject(value));
    const child = applied(field?.type ?? map.element ?? untypedAtomic, value, isOwnedItself);
    if (child === undefined) continue;
    keys.push(key);
    children.push(child);
  }
  if (keys.length === 0) return isSelf ? leaf : undefined;
  return nodeOfKeys(map, isSelf, keys, children);
}

function appliedItems(list: ListMerge, items: readonly unknown[], isSelf: boolean): FieldSet | undefined {
  if (items.length === 0) return isSelf ? leaf : undefined;
  return nodeOfList(list, items, isSelf, appliedItem);
}

const appliedItem = (type: MergeType, item: unknown): FieldSet => applied(type, item, true)!;

/** Lists with more items find duplicates with a map. */
const fewItems = 16;

/** Parts of duplicate items have no owner. */
function nodeOfList(
  list: ListMerge,
  items: readonly unknown[],
  isSelf: boolean,
  fieldsOf: (type: MergeType, item: unknown) => FieldSet,
): FieldSet {
  const part = partOf(list, items.length);
  const elements = part === atOnce ? elementsOf(list, items) : part(() => elementsOf(list, items));
  const places = items.length > fewItems ? new Map<string, number>() : undefined;
  const names: string[] = [];
  const nodes: FieldSet[] = [];
  for (let i = 0; i < items.length; i++) {
    const element = elements[i]!;
    const other = places ? (places.get(element) ?? -1) : names.indexOf(element);
    if (other >= 0) {
      nodes[other] = leaf;
      continue;
    }
    places?.set(element, names.length);
    names.push(element);
    nodes.push(part === atOnce ? fieldsOf(list.element, items[i]) : part(() => fieldsOf(list.element, items[i])));
  }
  return nodeOfItems(list, isSelf, names, nodes);
}

function elementsOf(list: ListMerge, items: readonly unknown[]): string[] {
  const elements: string[] = [];
  for (let i = 0; i < items.length; i++) elements.push(itemElement(list, items[i]));
  return elements;
}

/** Returns the value's own field and everything below it. */
export function everyField(type: MergeType, value: unknown): FieldSet {
  if (typeof value !== 'object' || value === null) return leaf;
  if (Array.isArray(value)) {
    return type.list && !type.list.isAtomic && value.length > 0 ? everyItem(type.list, value, true) : leaf;
  }
  return type.map && !type.map.isAtomic ? everyKey(type.map, value as JsonObject) : leaf;
}

function everyKey(map: MapMerge, object: JsonObject): FieldSet {
  const keys: string[] = [];
  const children: FieldSet[] = [];
  // Does not copy the keys. Objects of a request inherit none.
  for (const key in object) {
    const value = object[key];
    if (value === undefined) continue;
    keys.push(key);
    children.push(typeof value === 'object' ? everyField(map.typeOf(key) ?? untypedAtomic, value) : leaf);
  }
  return keys.length === 0 ? leaf : nodeOfKeys(map, true, keys, children);
}

/** Returns the items of a list that is not empty and everything below them; with `isSelf` the list's own field, too. */
export const everyItem = (list: ListMerge, items: readonly unknown[], isSelf: boolean): FieldSet =>
  nodeOfList(list, items, isSelf, everyField);
