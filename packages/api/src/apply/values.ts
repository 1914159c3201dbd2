/** JSON values: equality, copies, and texts as Go writes them. `__proto__` is a key like others. */

import { isObject } from '../object.ts';
import type { JsonObject } from '../object.ts';
import { sortKeys } from '../values/key-order.ts';

export const own = (object: Readonly<JsonObject>, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined;

export function setOwn(object: JsonObject, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

export function isEmptyObject(object: object): boolean {
  for (const _ in object) return false;
  return true;
}

/** The order of keys is ignored; a key whose value is undefined is absent. */
export function equalValues(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!equalValues(a[i], b[i])) return false;
    return true;
  }
  return !Array.isArray(b) && equalObjects(a as JsonObject, b as JsonObject);
}

function equalObjects(a: Readonly<JsonObject>, b: Readonly<JsonObject>): boolean {
  let count = 0;
  // Does not copy the keys. Parsed objects inherit none.
  for (const key in a) {
    const value = a[key];
    if (value === undefined) continue;
    count++;
    if (!Object.hasOwn(b, key) || !equalValues(value, b[key])) return false;
  }
  for (const key in b) if (b[key] !== undefined) count--;
  return count === 0;
}

export function cloneValue<T>(value: T): T;
export function cloneValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => cloneValue(one as unknown));
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) setOwn(copy, key, cloneValue((value as JsonObject)[key]));
  return copy;
}

/** Texts that are written without escapes. */
const plainText = /^[\w ./:@=+,-]*$/;
const htmlCharacters = /[<>&\u2028\u2029]/;
const everyHtmlCharacter = /[<>&\u2028\u2029]/g;

/** JSON as Go writes it: sorted keys, and `<`, `>` and `&` escaped. */
export function goJson(value: unknown): string {
  if (typeof value === 'string' && plainText.test(value)) return `"${value}"`;
  if (isObject(value) || Array.isArray(value)) return goJsonOfContainer(value);
  const text = JSON.stringify(value) ?? 'null';
  if (!htmlCharacters.test(text)) return text;
  return text.replace(everyHtmlCharacter, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function goJsonOfContainer(value: JsonObject | unknown[]): string {
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`;
  const keys = sortKeys(Object.keys(value).filter((key) => value[key] !== undefined));
  return `{${keys.map((key) => `${goJson(key)}:${goJson(value[key])}`).join(',')}}`;
}

/** As `%v` shows a float64: with an exponent from a million on. */
export function goFloat(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude === 0 || (magnitude >= 1e-4 && magnitude < 1e6)) return String(value);
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`;
}
