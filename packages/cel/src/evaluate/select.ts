/** Looking into JSON and CEL values: fields, indices, presence. Each accepts JSON as it is. */

import { fail, noSuchOverload } from '../errors.ts';
import { CelList } from '../values/list.ts';
import { CelMap, formatKey, plainKey } from '../values/map.ts';
import { adaptAny, inherited, isJsonObject, ownProperty } from '../values/json.ts';
import type { JsonObject } from '../values/json.ts';
import { Boxed, Optional } from '../values/values.ts';
import type { CelValue } from '../values/values.ts';

/** A reader of one property; only names that every object inherits need the slower test. */
export function propertyReader(name: string): (object: JsonObject) => unknown {
  return inherited(name) ? (object) => ownProperty(object, name) : (object) => object[name];
}

/** The field, or undefined when there is none; fails on what has no fields. */
export function findField(value: unknown, field: string): unknown {
  if (value instanceof CelMap) return value.find(field);
  if (value instanceof Optional) {
    const inner = value.value === undefined ? undefined : findField(value.value, field);
    return inner === undefined ? Optional.none : new Optional(adaptAny(inner));
  }
  if (isJsonObject(value)) return ownProperty(value, field);
  return noSuchOverload();
}

export function getField(value: unknown, field: string): unknown {
  const found = findField(value, field);
  return found === undefined ? fail(`no such key: ${field}`) : found;
}

/** Presence as `has()` sees it. */
export function hasField(value: unknown, field: string): boolean {
  if (value instanceof Optional) return value.value !== undefined && hasField(value.value, field);
  return findField(value, field) !== undefined;
}

/** The element or value, or undefined when there is none. */
export function findIndex(value: unknown, index: CelValue): unknown {
  if (Array.isArray(value)) {
    const at = listIndex(index);
    return at < value.length && at >= 0 ? value[at] : undefined;
  }
  if (value instanceof CelList) {
    const at = listIndex(index);
    return at < value.size && at >= 0 ? value.at(at) : undefined;
  }
  if (value instanceof CelMap) return value.find(mapKey(index));
  if (value instanceof Optional) {
    const inner = value.value === undefined ? undefined : findIndex(value.value, index);
    return inner === undefined ? Optional.none : new Optional(adaptAny(inner));
  }
  if (isJsonObject(value)) {
    const key = mapKey(index);
    return typeof key === 'string' ? ownProperty(value, key) : undefined;
  }
  return noSuchOverload();
}

export function getIndex(value: unknown, index: CelValue): unknown {
  const found = findIndex(value, index);
  if (found !== undefined) return found;
  const list = Array.isArray(value) || value instanceof CelList;
  return fail(list ? `index out of bounds: ${formatKey(index)}` : `no such key: ${formatKey(index)}`);
}

/** A whole number of any type. */
function listIndex(index: CelValue): number {
  const plain = plainKey(index);
  if (typeof plain === 'number') return plain;
  return typeof plain === 'bigint' ? -1 : noSuchOverload();
}

function mapKey(index: CelValue): CelValue {
  if (plainKey(index) !== undefined) return index;
  return index instanceof Boxed && index.typeName === 'double' ? index : fail(`unsupported key type`);
}
