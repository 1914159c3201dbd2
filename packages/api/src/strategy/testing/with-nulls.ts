/** Puts null in place of some values: clients may send it for any. */

import { isObject } from '../../object.ts';
import type { Random } from '../../testing/random-object.ts';

export function withNulls(value: unknown, random: Random): unknown {
  if (Array.isArray(value)) return value.map((one) => (random() < 0.1 ? null : withNulls(one, random)));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, one]) => [key, random() < 0.1 ? null : withNulls(one, random)]);
  return Object.fromEntries(entries);
}
