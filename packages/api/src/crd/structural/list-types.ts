/** `x-kubernetes-list-type`: the items of a set differ, the items of a map differ in their keys. */

import type { JsonObject } from '../../object.ts';
import { isObject } from '../../object.ts';
import { child, duplicate, index, invalid, key } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { errorsMax } from '../bounded-errors.ts';
import { canonicalJson } from './canonical.ts';
import type { SchemaNode } from './node.ts';

export function listErrors(value: unknown, node: SchemaNode, path = '', errors: FieldError[] = []): FieldError[] {
  if (!node.hasUniqueLists || errors.length >= errorsMax) return errors;
  if (Array.isArray(value)) {
    if (node.listType === 'set') setErrors(value, path, errors);
    else if (node.listType === 'map') mapErrors(value, node, path, errors);
    if (node.items !== undefined) {
      for (let i = 0; i < value.length; i++) {
        if (typeof value[i] === 'object') listErrors(value[i], node.items, index(path, i), errors);
      }
    }
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const field = node.properties.get(name);
      if (field !== undefined) listErrors(value[name], field, child(path, name), errors);
      if (node.others !== undefined) listErrors(value[name], node.others, key(path, name), errors);
    }
  }
  return errors;
}

/**
 * Returns a value that identifies a JSON value: strings get a quote as prefix, so that they differ from objects, which begin with a
 * bracket.
 */
const identity = (value: unknown): unknown =>
  typeof value === 'string' ? `"${value}` : typeof value === 'object' && value !== null ? canonicalJson(value) : value;

/** Positions of identities that occurred before, each once. */
function repeated(identities: readonly unknown[]): number[] {
  const seen = new Map<unknown, number>();
  const found: number[] = [];
  for (let i = 0; i < identities.length; i++) {
    const times = (seen.get(identities[i]) ?? 0) + 1;
    seen.set(identities[i], times);
    if (times === 2) found.push(i);
  }
  return found;
}

function setErrors(list: readonly unknown[], path: string, errors: FieldError[]): void {
  if (list.length <= 1) return;
  for (const i of repeated(list.map(identity))) errors.push(duplicate(index(path, i), list[i]));
}

function mapErrors(list: readonly unknown[], node: SchemaNode, path: string, errors: FieldError[]): void {
  const wrong = list.findIndex((item) => item !== null && !isObject(item));
  if (wrong !== -1) {
    errors.push(invalid(index(path, wrong), list[wrong], 'must be an object for an array of list-type map'));
    return;
  }
  if (list.length <= 1) return;
  const identities = list.map((item) => keysIdentity(item as JsonObject | null, node.listKeys));
  for (const i of repeated(identities)) {
    errors.push(duplicate(index(path, i), keysOf(list[i] as JsonObject | null, node.listKeys)));
  }
}

/** An absent key counts as a separate value. */
function keysIdentity(item: JsonObject | null, names: readonly string[]): unknown {
  const valueOf = (name: string): unknown =>
    item !== null && Object.hasOwn(item, name) ? identity(item[name]) : absent;
  return names.length === 1 ? valueOf(names[0]!) : JSON.stringify(names.map(valueOf));
}

/** Differs from every identity of a text or object. */
const absent = '-';

function keysOf(item: JsonObject | null, names: readonly string[]): JsonObject {
  const given = names.filter((name) => item !== null && Object.hasOwn(item, name));
  return Object.fromEntries(given.map((name) => [name, item![name]]));
}
