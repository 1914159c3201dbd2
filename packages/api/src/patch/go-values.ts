/** Formats decoded JSON like Go, for the messages of a strategic merge patch. */

import { isObject } from '../object.ts';
import { sortKeys } from '../values/key-order.ts';

/** The type that Go decodes a value to; undefined for null. */
export function goType(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  return typeof value === 'bigint' || Number.isInteger(value) ? 'int64' : 'float64';
}

/** Formats like `%v`: `map[a:1 b:[x y]]`. */
export const goText = (value: unknown): string => print(value, scalarText);

/** Formats a value that should be a text like `%s`: `map[a:%!s(int64=1)]`. */
export function goString(value: unknown): string {
  if (value === null || value === undefined) return '%!s(<nil>)';
  return print(value, (scalar) => {
    const text = scalarText(scalar);
    return typeof scalar === 'string' || scalar === null ? text : `%!s(${goType(scalar)}=${text})`;
  });
}

function print(value: unknown, printScalar: (scalar: unknown) => string): string {
  if (Array.isArray(value)) return `[${value.map((one) => print(one, printScalar)).join(' ')}]`;
  if (!isObject(value)) return printScalar(value ?? null);
  const pairs = sortKeys(Object.keys(value)).map((key) => `${key}:${print(value[key], printScalar)}`);
  return `map[${pairs.join(' ')}]`;
}

function scalarText(value: unknown): string {
  if (value === null) return '<nil>';
  return typeof value === 'number' ? goNumber(value) : String(value);
}

function goNumber(value: number): string {
  if (value === 0 || (Math.abs(value) >= 1e-4 && Math.abs(value) < 1e21)) return String(value);
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`;
}
