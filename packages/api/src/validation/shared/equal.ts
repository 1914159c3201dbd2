/** Equality as Kubernetes means it: absent, null and empty lists or maps are the same. Objects are trees of bounded depth. */

import { isObject } from '../../object.ts';

export function equalValues(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, at) => equalValues(item, other[at]));
  }
  if (!isObject(one) || !isObject(other)) return isNothing(one) && isNothing(other);
  for (const name of Object.keys(one)) {
    if (!equalValues(one[name], Object.hasOwn(other, name) ? other[name] : undefined)) return false;
  }
  return Object.keys(other).every((name) => Object.hasOwn(one, name) || isNothing(other[name]));
}

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0);
