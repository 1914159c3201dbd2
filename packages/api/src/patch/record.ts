/**
 * Decoded JSON objects as maps from any key, `__proto__` included: assigning that one would change the prototype, and
 * reading it would find one.
 */

import type { JsonObject } from '../object.ts';

export const has = (record: JsonObject, key: string): boolean => Object.hasOwn(record, key);

export const get = (record: JsonObject, key: string): unknown => (Object.hasOwn(record, key) ? record[key] : undefined);

export function put(record: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
  } else record[key] = value;
}

export const remove = (record: JsonObject, key: string): void => {
  delete record[key];
};
