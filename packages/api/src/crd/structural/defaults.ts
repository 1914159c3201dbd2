/**
 * Defaults of the schema, and what null means: a null that the schema does not allow is as good as absent. Where there is
 * a default it takes its place, else the field is removed.
 */

import type { JsonObject } from '../../object.ts';
import { isObject } from '../../object.ts';
import { cloneJson, setField } from './canonical.ts';
import { fieldNode } from './node.ts';
import type { SchemaNode } from './node.ts';

/** Changes `value` in place. */
export function applySchemaDefaults(value: unknown, node: SchemaNode): void {
  if (!node.hasDefaults) return;
  if (Array.isArray(value)) {
    if (node.items !== undefined) defaultItems(value, node.items);
  } else if (isObject(value)) {
    defaultFields(value, node);
  }
}

function defaultFields(object: JsonObject, node: SchemaNode): void {
  for (const [name, field] of node.defaulted) {
    const isMissing = !Object.hasOwn(object, name) || (object[name] === null && !field.isNullable);
    if (isMissing) setField(object, name, cloneJson(field.defaultValue));
  }
  for (const name of Object.keys(object)) {
    const field = node.properties.get(name);
    if (field !== undefined) {
      applySchemaDefaults(object[name], field);
    } else if (node.others?.hasDefaults) {
      const { others } = node;
      if (object[name] === null && !others.isNullable) setField(object, name, cloneJson(others.defaultValue ?? null));
      applySchemaDefaults(object[name], others);
    }
  }
}

function defaultItems(list: unknown[], items: SchemaNode): void {
  for (let i = 0; i < list.length; i++) {
    if (list[i] === null && !items.isNullable) list[i] = cloneJson(items.defaultValue ?? null);
    applySchemaDefaults(list[i], items);
  }
}

/** Removes fields that are null, may not be, and have no default. Items of lists stay: their places matter. */
export function dropNulls(value: unknown, node: SchemaNode | undefined): void {
  if (node === undefined || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    if (node.items !== undefined) for (const item of value) dropNulls(item, node.items);
    return;
  }
  const object = value as JsonObject;
  for (const name of Object.keys(object)) {
    const field = fieldNode(node, name);
    if (field === undefined) continue;
    const inner = object[name];
    if (inner === null && !field.isNullable && field.defaultValue === undefined) delete object[name];
    else dropNulls(inner, field);
  }
}
