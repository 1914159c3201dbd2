/** Values at dotted paths, with the errors that Kubernetes gives when something else lies there. */

import type { JsonObject } from '../../object.ts';
import { isObject } from '../../object.ts';
import { sortKeys } from '../../values/key-order.ts';
import { setField } from '../structural/canonical.ts';
import { goFloat, isInt64 } from '../values/numbers.ts';

export interface Found<T> {
  readonly value?: T;
  readonly error?: string;
}

/** `.spec.replicas` without its first dot, in names. */
export const pathNames = (path: string): string[] => (path.startsWith('.') ? path.slice(1) : path).split('.');

function find(object: JsonObject, names: readonly string[]): Found<unknown> {
  let value: unknown = object;
  for (const [i, name] of names.entries()) {
    if (value === null) return {};
    if (!isObject(value)) {
      return { error: accessorError(names.slice(0, i + 1), value, 'map[string]interface{}') };
    }
    if (!Object.hasOwn(value, name)) return {};
    value = value[name];
  }
  return { value };
}

export function findInteger(object: JsonObject, names: readonly string[]): Found<number> {
  const { value, error } = find(object, names);
  if (error !== undefined) return { error };
  if (value === undefined) return {};
  return typeof value === 'number' && isInt64(value) ? { value } : { error: accessorError(names, value, 'int64') };
}

export function findText(object: JsonObject, names: readonly string[]): Found<string> {
  const { value, error } = find(object, names);
  if (error !== undefined) return { error };
  if (value === undefined) return {};
  return typeof value === 'string' ? { value } : { error: accessorError(names, value, 'string') };
}

const accessorError = (names: readonly string[], value: unknown, expected: string): string =>
  `.${names.join('.')} accessor error: ${goText(value)} is of the type ${goTypeOf(value)}, expected ${expected}`;

function goTypeOf(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
      return isInt64(value) ? 'int64' : 'float64';
    default:
      if (value === null) return '<nil>';
      return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
  }
}

/** `%v`. */
export function goText(value: unknown): string {
  if (value === null) return '<nil>';
  if (typeof value === 'number') return goFloat(value);
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (isObject(value)) {
    return `map[${sortKeys(Object.keys(value))
      .map((name) => `${name}:${goText(value[name])}`)
      .join(' ')}]`;
  }
  return String(value);
}

/** Makes the objects on the way; an error when something else is there. */
export function setNested(object: JsonObject, names: readonly string[], value: unknown): string | undefined {
  let at = object;
  for (const [i, name] of names.slice(0, -1).entries()) {
    const next = Object.hasOwn(at, name) ? at[name] : undefined;
    if (next === undefined) {
      const made: JsonObject = {};
      setField(at, name, made);
      at = made;
    } else if (isObject(next)) {
      at = next;
    } else {
      return `value cannot be set because .${names.slice(0, i + 1).join('.')} is not a map[string]interface{}`;
    }
  }
  setField(at, names.at(-1)!, value);
  return undefined;
}
