/** JSON values compared and written without regard to the order of keys, as Go's maps have none. */

import type { JsonObject } from '../../object.ts';
import { sortKeys } from '../../values/key-order.ts';

/** Returns the value with all keys sorted as Go writes them; shares values that are not objects. */
export function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const object = value as JsonObject;
  return Object.fromEntries(sortKeys(Object.keys(object)).map((name) => [name, sorted(object[name])]));
}

export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value));

export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => deepEqual(item, b[i]));
  }
  if (Array.isArray(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && deepEqual((a as JsonObject)[name], (b as JsonObject)[name]));
}

/** A copy that shares nothing; for JSON several times faster than `structuredClone`. */
export function cloneJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneJson) as T;
  const copy: JsonObject = {};
  for (const name of Object.keys(value)) setField(copy, name, cloneJson((value as JsonObject)[name]));
  return copy as T;
}

/** `__proto__` is a name like any other. */
export function setField(object: JsonObject, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[name] = value;
  }
}
