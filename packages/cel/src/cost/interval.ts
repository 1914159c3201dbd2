/** Minimum and maximum of a size or a cost; sums and products are capped at the largest uint64, which means "unknown". */

export interface Interval {
  readonly min: number;
  readonly max: number;
}

/** 2^64: the double closest to the largest uint64. */
export const most = 2 ** 64;
const capped = (value: number): number => (value > most ? most : value);

export const exactly = (value: number): Interval => ({ min: value, max: value });
export const zero = exactly(0);
export const one = exactly(1);
export const unknown: Interval = { min: 0, max: most };

export function add(a: Interval, b: Interval): Interval {
  return { min: capped(a.min + b.min), max: capped(a.max + b.max) };
}

export function multiply(a: Interval, b: Interval): Interval {
  return { min: capped(a.min * b.min), max: capped(a.max * b.max) };
}

/** Times a price per unit, rounded up. */
export function scale(a: Interval, factor: number): Interval {
  return { min: capped(Math.ceil(a.min * factor)), max: capped(Math.ceil(a.max * factor)) };
}

export function union(a: Interval, b: Interval): Interval {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}

export const sum = (intervals: readonly Interval[]): Interval => intervals.reduce(add, zero);
