/** Replaces the large integers in the result of an expression, which JSON cannot hold here. */

import { isObject } from '@hangar/api';

export function plainNumbers(value: unknown, replacement: (large: bigint) => unknown): unknown {
  if (typeof value === 'bigint') return replacement(value);
  if (Array.isArray(value)) return value.map((one) => plainNumbers(one, replacement));
  if (!isObject(value)) return value;
  const result = { ...value };
  for (const [key, one] of Object.entries(result)) {
    const plain = plainNumbers(one, replacement);
    // A plain assignment to `__proto__` would change the prototype of the object instead.
    if (plain !== one)
      Object.defineProperty(result, key, { value: plain, enumerable: true, configurable: true, writable: true });
  }
  return result;
}
