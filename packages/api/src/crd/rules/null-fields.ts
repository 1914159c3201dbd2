/** Removes null fields before expressions are evaluated: a null field counts as absent; nulls in lists and maps are values. */

import type { JsonObject } from '../../object.ts';
import { isObject } from '../../object.ts';
import { setField } from '../structural/canonical.ts';
import { fieldNode } from '../structural/node.ts';
import type { SchemaNode } from '../structural/node.ts';

/** Returns the value without null fields; the same value if it has none, which is the usual case. */
export function withoutNullFields(value: unknown, node: SchemaNode): unknown {
  return node.hasNullable && hasNullField(value, node) ? strip(value, node) : value;
}

function hasNullField(value: unknown, node: SchemaNode): boolean {
  if (!node.hasNullable || typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) {
    const { items } = node;
    return items !== undefined && items.hasNullable && value.some((item) => hasNullField(item, items));
  }
  const isStruct = node.properties.size > 0;
  for (const name of Object.keys(value)) {
    const field = fieldNode(node, name);
    const inner = (value as JsonObject)[name];
    if (inner === null ? isStruct : field !== undefined && hasNullField(inner, field)) return true;
  }
  return false;
}

function strip(value: unknown, node: SchemaNode): unknown {
  const { items } = node;
  if (Array.isArray(value)) return items ? value.map((item) => strip(item, items)) : value;
  if (!isObject(value)) return value;
  const isStruct = node.properties.size > 0;
  const copy: JsonObject = {};
  for (const name of Object.keys(value)) {
    const inner = value[name];
    if (inner === null && isStruct) continue;
    const field = fieldNode(node, name);
    setField(copy, name, field === undefined ? inner : strip(inner, field));
  }
  return copy;
}
