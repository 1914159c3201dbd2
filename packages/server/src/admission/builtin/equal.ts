/** Equality of decoded values with Kubernetes semantics: absent, null and empty values are equal. */

import { isObject } from '@hangar/api';

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0);

export function equal(a: unknown, b: unknown): boolean {
  if (a === b || (isNothing(a) && isNothing(b))) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((one, at) => equal(one, b[at]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const one = Object.hasOwn(a, name) ? a[name] : undefined;
    const other = Object.hasOwn(b, name) ? b[name] : undefined;
    if (!equal(one, other)) return false;
  }
  return true;
}
