/** int64 and uint64 arithmetic that fails on overflow. See `values.ts` for the representation. */

import { fail } from '../errors.ts';
import { Uint } from './values.ts';
import type { CelInt } from './values.ts';

export const int64Max = 2n ** 63n - 1n;
export const int64Min = -(2n ** 63n);
const uint64Max = 2n ** 64n - 1n;

/** A bigint known to fit int64, in its one form. */
export function canonical(value: bigint): CelInt {
  return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value;
}

export function toInt(value: bigint, message = 'integer overflow'): CelInt {
  return value > int64Max || value < int64Min ? fail(message) : canonical(value);
}

export function toUint(value: bigint, message = 'unsigned integer overflow'): Uint {
  return value > uint64Max || value < 0n ? fail(message) : new Uint(value);
}

export function addInt(a: CelInt, b: CelInt): CelInt {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return toInt(BigInt(a) + BigInt(b));
}

export function subtractInt(a: CelInt, b: CelInt): CelInt {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b;
    if (Number.isSafeInteger(difference)) return difference;
  }
  return toInt(BigInt(a) - BigInt(b));
}

export function multiplyInt(a: CelInt, b: CelInt): CelInt {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b;
    // `+ 0` turns -0 into 0.
    if (Number.isSafeInteger(product)) return product + 0;
  }
  return toInt(BigInt(a) * BigInt(b));
}

export function divideInt(a: CelInt, b: CelInt): CelInt {
  if (b === 0) fail('division by zero');
  return typeof a === 'number' && typeof b === 'number' ? Math.trunc(a / b) + 0 : toInt(BigInt(a) / BigInt(b));
}

export function remainderInt(a: CelInt, b: CelInt): CelInt {
  if (b === 0) fail('modulus by zero');
  if (typeof a === 'number' && typeof b === 'number') return (a % b) + 0;
  // Go defines the most negative int modulo -1 as an overflow.
  if (b === -1 && BigInt(a) === int64Min) fail('integer overflow');
  return canonical(BigInt(a) % BigInt(b));
}

export function negateInt(a: CelInt): CelInt {
  return typeof a === 'number' ? 0 - a : toInt(-a);
}
