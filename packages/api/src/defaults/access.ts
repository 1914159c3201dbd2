/**
 * Reads and writes decoded objects with Go's zero values: absent, null and (for fields that are not pointers) empty are the same. Keys that
 * clients choose may be `__proto__`, so maps are written with `put` and read with `has`.
 */

import { isObject } from '../object.ts';
import type { JsonObject } from '../object.ts';

export const isAbsent = (value: unknown): value is undefined | null => value === undefined || value === null;

/** Reports whether the value is a zero value in Go, or a list or map of length 0. */
export function isEmpty(value: unknown): boolean {
  if (isAbsent(value) || value === '' || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (!isObject(value)) return false;
  for (const _ in value) return false;
  return true;
}

/** Returns undefined if it is absent. */
export const objectAt = (parent: JsonObject | undefined, name: string): JsonObject | undefined => {
  const value = parent?.[name];
  return isObject(value) ? value : undefined;
};

/** Returns the objects in a list; none if it is absent. */
export function objectsAt(parent: JsonObject | undefined, name: string): readonly JsonObject[] {
  const value = parent?.[name];
  return Array.isArray(value) ? objectsOf(value) : none;
}

const none: readonly never[] = [];

/** Most lists consist of objects alone, and need no copy. */
const objectsOf = (list: unknown[]): readonly JsonObject[] => (list.every(isObject) ? list : list.filter(isObject));

/** Like `objectsAt`, for a list that will be changed: a null in it is a zero struct in Go, and becomes one. */
export function elementsAt(parent: JsonObject | undefined, name: string): readonly JsonObject[] {
  const list = parent?.[name];
  if (!Array.isArray(list)) return none;
  for (let i = 0; i < list.length; i++) if (isAbsent(list[i])) list[i] = {};
  return objectsOf(list);
}

export function stringsAt(parent: JsonObject | undefined, name: string): string[] {
  const value = parent?.[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** Returns the empty string if it is absent. */
export const stringAt = (parent: JsonObject | undefined, name: string): string => {
  const value = parent?.[name];
  return typeof value === 'string' ? value : '';
};

/** Returns zero if it is absent. */
export const numberAt = (parent: JsonObject | undefined, name: string): number => {
  const value = parent?.[name];
  return typeof value === 'number' ? value : 0;
};

/** Returns a struct that always exists in Go: created if it is absent. */
export function structAt(parent: JsonObject, name: string): JsonObject {
  const value = parent[name];
  if (isObject(value)) return value;
  const made: JsonObject = {};
  parent[name] = made;
  return made;
}

/** For pointers, lists and maps: sets absent fields. Values are shared, so they must be scalars. */
export function fill(object: JsonObject, values: Readonly<JsonObject>): void {
  for (const name of Object.keys(values)) if (isAbsent(object[name])) object[name] = values[name];
}

/** For fields that are not pointers: sets absent, empty or zero ones. */
export function fillEmpty(object: JsonObject, values: Readonly<JsonObject>): void {
  for (const name of Object.keys(values)) if (isEmpty(object[name])) object[name] = values[name];
}

export const has = (map: JsonObject | undefined, key: string): boolean => map !== undefined && Object.hasOwn(map, key);

export function put(map: JsonObject, key: string, value: unknown): void {
  if (key !== '__proto__') map[key] = value;
  else Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Adds the entries of `from` whose keys `into` lacks. */
export function putMissing(into: JsonObject, from: Readonly<JsonObject> | undefined): void {
  if (from === undefined) return;
  for (const key of Object.keys(from)) if (!Object.hasOwn(into, key)) put(into, key, from[key]);
}
