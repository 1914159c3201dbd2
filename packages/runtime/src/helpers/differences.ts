/** What is different between two versions of an object. A field that is undefined is one that is not there. */

import { isObject } from '@hangar/api/json';
import type { JsonObject } from '@hangar/api';

export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => isEqual(item, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  for (const name of Object.keys(a)) if (!isEqual(a[name], b[name])) return false;
  for (const name of Object.keys(b)) if (b[name] !== undefined && a[name] === undefined) return false;
  return true;
}

/**
 * The JSON merge patch (RFC 7386) that makes `after` of `before`; undefined when they are equal. Lists are replaced as a whole:
 * that is all that this kind of patch can say.
 */
export function mergePatchOf(before: JsonObject, after: JsonObject): JsonObject | undefined {
  const patch: JsonObject = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before[name], after[name]];
    if (isEqual(old, now)) continue;
    if (now === undefined) patch[name] = null;
    else patch[name] = isObject(old) && isObject(now) ? mergePatchOf(old, now) : now;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}
