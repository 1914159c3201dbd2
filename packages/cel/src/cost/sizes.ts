/** Sizes of values and the prices everything else is computed from. */

import { CelList } from '../values/list.ts';
import { CelMap } from '../values/map.ts';
import { codePointCount } from '../values/text.ts';
import { Opaque, Optional } from '../values/values.ts';
import type { CelValue } from '../values/values.ts';

export const listCost = 10;
export const mapCost = 30;
export const structCost = 40;
export const perCharacter = 0.1;
export const perRegexCharacter = 0.25;

/** The cost of a call given its arguments (a method's target first) and its result. */
export type CallCost = (args: readonly CelValue[], result: CelValue) => number;

/** Whether a call can be charged before it runs, as it should be: an expensive call must not run on an empty budget. */
export const isKnownBefore = (cost: CallCost): boolean => cost.length < 2;

export function actualSize(value: CelValue): number {
  if (typeof value === 'string') return codePointCount(value);
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof Optional && value.value !== undefined) return actualSize(value.value);
  return value instanceof Opaque ? value.size : 1;
}

export const characters = (value: CelValue, times = 1): number => Math.ceil(actualSize(value) * times * perCharacter);

export function equalityCost(a: CelValue, b: CelValue): number {
  if (a instanceof Opaque) return 1;
  if (typeof a === 'string' && typeof b === 'string') {
    // The shorter side decides; up to ten characters cost one, which needs no counting.
    const shorter = Math.min(a.length, b.length);
    if (shorter <= 10) return shorter === 0 ? 0 : 1;
  }
  return Math.ceil(Math.min(actualSize(a), actualSize(b)) * perCharacter);
}

export function regexCost(text: CelValue, pattern: CelValue): number {
  return Math.ceil((1 + actualSize(text)) * perCharacter) * Math.ceil(actualSize(pattern) * perRegexCharacter);
}
