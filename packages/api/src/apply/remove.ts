/** Returns a value without the fields of a set. */

import { isObject } from '../object.ts';
import type { JsonObject } from '../object.ts';
import type { FieldSet } from './field-set.ts';
import { isEmptySet, isMember, leaf, nodeOf, noFields } from './field-set.ts';
import type { MergeType } from './merge-type.ts';
import { untypedAtomic } from './merge-type.ts';
import { itemElement } from './path-element.ts';
import { isEmptyObject, setOwn } from './values.ts';

/** Lists and maps that lose everything, or parts although they are atomic, become null. */
export function removeFields(type: MergeType, value: unknown, fields: FieldSet): unknown {
  if (isEmptySet(fields)) return value;
  switch (type.alternativeOf(value)) {
    case 'scalar':
      return value;
    case 'list':
      if (!Array.isArray(value) || value.length === 0 || type.list!.isAtomic) return null;
      return removeItems(type, value, fields);
    case 'map':
      if (!isObject(value) || isEmptyObject(value) || type.map!.isAtomic) return null;
      return removeKeys(type, value, fields);
  }
}

function removeItems(type: MergeType, items: readonly unknown[], fields: FieldSet): unknown {
  const list = type.list!;
  const left: unknown[] = [];
  for (const item of items) {
    const node = fields[itemElement(list, item)];
    if (node === undefined) left.push(item);
    else if (!isMember(node)) left.push(removeFields(list.element, item, node));
  }
  return left.length > 0 ? left : null;
}

function removeKeys(type: MergeType, object: JsonObject, fields: FieldSet): unknown {
  const left: JsonObject = {};
  let isEmpty = true;
  for (const key of Object.keys(object)) {
    const node = fields[`f:${key}`];
    if (node !== undefined && isMember(node)) continue;
    const value =
      node === undefined ? object[key] : removeFields(type.map!.typeOf(key) ?? untypedAtomic, object[key], node);
    setOwn(left, key, value);
    isEmpty = false;
  }
  return isEmpty ? null : left;
}

/**
 * Returns the set with the named fields of structs that lead to its members: they have no owner themselves, but are removed when everything
 * in them is removed.
 */
export const withNamedFields = (type: MergeType | undefined, fields: FieldSet): FieldSet =>
  isEmptySet(fields) ? noFields : named(type, fields, false)!;

function named(type: MergeType | undefined, fields: FieldSet, isSelf: boolean): FieldSet | undefined {
  const elements: string[] = [];
  const children: FieldSet[] = [];
  for (const element in fields) {
    if (element === '.') continue;
    const node = fields[element]!;
    elements.push(element);
    if (isEmptySet(node)) {
      children.push(leaf);
      continue;
    }
    const name = element[0] === 'f' ? element.slice(2) : undefined;
    const field = name === undefined ? undefined : type?.map?.field(name);
    const below = name === undefined ? type?.list?.element : (field?.type ?? type?.map?.element);
    children.push(named(below, node, isMember(node) || field !== undefined)!);
  }
  return nodeOf(isSelf, elements, children);
}
