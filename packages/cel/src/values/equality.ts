/** Equality and order across CEL's types: numbers compare by value regardless of their type, unequal types are unequal. */

import { fail, noSuchOverload } from '../errors.ts';
import { work } from '../work.ts';
import { CelList } from './list.ts';
import { CelMap } from './map.ts';
import { Double, Duration, Opaque, Optional, Timestamp, TypeValue, Uint } from './values.ts';
import type { CelInt, CelValue } from './values.ts';

const nsPerComparison = 20;

export function equal(a: CelValue, b: CelValue): boolean {
  work(typeof a === 'string' ? nsPerComparison + (a.length >> 2) : nsPerComparison);
  if (a === b) return !(a instanceof Double) || !Number.isNaN(a.value);
  if (typeof a !== 'object' && typeof b !== 'object') return false;
  if (a === null || b === null) return false;
  if (isNumeric(a) && isNumeric(b)) return compareNumbers(a, b) === 0;
  if (a instanceof CelList) return b instanceof CelList && a.equals(b, equal);
  if (a instanceof CelMap) return b instanceof CelMap && a.equals(b, equal);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name;
  if (a instanceof Optional) {
    if (!(b instanceof Optional)) return false;
    return a.value === undefined || b.value === undefined ? a.value === b.value : equal(a.value, b.value);
  }
  return a instanceof Opaque && b instanceof Opaque && a.typeName === b.typeName && a.equals(b);
}

export function contains(list: CelList, value: CelValue): boolean {
  for (let index = 0; index < list.size; index++) if (equal(list.at(index), value)) return true;
  return false;
}

type CelNumber = CelInt | Double | Uint;

export function isNumeric(value: CelValue): value is CelNumber {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof Double || value instanceof Uint;
}

/**
 * Returns a negative, zero or positive number; NaN if either is NaN. An int is compared with a double as a double, as in the specification.
 */
export function compareNumbers(a: CelNumber, b: CelNumber): number {
  const lossy = a instanceof Double || b instanceof Double;
  const left = plainNumber(a, lossy);
  const right = plainNumber(b, lossy);
  if (left < right) return -1;
  if (left > right) return 1;
  return Number.isNaN(left) || Number.isNaN(right) ? NaN : 0;
}

function plainNumber(value: CelNumber, lossy: boolean): number | bigint {
  const plain = typeof value === 'object' ? value.value : value;
  return lossy ? Number(plain) : plain;
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b);
}

/** Compares by code points; JavaScript compares UTF-16 units, which differs only between a surrogate and a character above it. */
export function compareStrings(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  work(length);
  if (a === b) return 0;
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left === right) continue;
    const leftSurrogate = left >= 0xd800 && left <= 0xdfff;
    const rightSurrogate = right >= 0xd800 && right <= 0xdfff;
    if (leftSurrogate !== rightSurrogate) return leftSurrogate ? 1 : -1;
    return left < right ? -1 : 1;
  }
  return a.length < b.length ? -1 : 1;
}

/** Compares two values of one ordered type (or two numbers); fails for NaN and unordered types. */
export function compare(a: CelValue, b: CelValue): number {
  work(nsPerComparison);
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b);
  if (isNumeric(a) && isNumeric(b)) {
    const order = compareNumbers(a, b);
    return Number.isNaN(order) ? fail('NaN values cannot be ordered') : order;
  }
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b);
  if (a instanceof Timestamp && b instanceof Timestamp) return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
  if (a instanceof Duration && b instanceof Duration) return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
  return noSuchOverload();
}
