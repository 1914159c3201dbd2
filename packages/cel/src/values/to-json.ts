/** CEL values to JSON: what mutating policies write into objects and what messages show. */

import { CelError } from '../errors.ts';
import { encodeBase64 } from './base64.ts';
import { CelList } from './list.ts';
import { CelMap, formatKey } from './map.ts';
import { formatDuration, formatTimestamp } from './time.ts';
import { Double, Duration, Optional, Timestamp, TypeValue, Uint } from './values.ts';
import { allocate, entryBytes, nodeBytes } from '../work.ts';
import type { CelValue } from './values.ts';

/** Ints beyond 2^53 stay bigints: the caller's encoder decides. Throws `CelError` for values that JSON cannot represent. */
export function toJson(value: CelValue): unknown {
  allocate(typeof value === 'string' ? nodeBytes + value.length : nodeBytes);
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Double) {
    if (!Number.isFinite(value.value)) throw new CelError('Evaluation', `${value.value} has no JSON form`);
    return value.value;
  }
  if (value instanceof Uint) return value.value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value.value) : value.value;
  if (value instanceof Uint8Array) return encodeBase64(value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof TypeValue) return value.name;
  if (value instanceof Optional) return value.value === undefined ? null : toJson(value.value);
  if (value instanceof CelList) return value.toArray().map(toJson);
  if (value instanceof CelMap) return objectOf(value);
  throw new CelError('Evaluation', `a ${value.typeName} has no JSON form`);
}

function objectOf(map: CelMap): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const key of map.keys()) {
    allocate(entryBytes);
    // A plain assignment to `__proto__` would change the object's prototype instead.
    Object.defineProperty(object, formatKey(key), {
      value: toJson(map.get(key)),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return object;
}
