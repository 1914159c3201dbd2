/** Sets of indexes of an Indexed Job: `1,3-5,7`, in increasing order. */

import { quote } from '../../../status/field-error.ts';

export type Indexes = { readonly total: number } | { readonly problem: string };

type Interval = { readonly first: number; readonly last: number } | { readonly problem: string };

export function parseIndexes(text: string, completions: number): Indexes {
  if (text === '') return { total: 0 };
  let total = 0;
  let previous: number | undefined;
  for (const part of text.split(',')) {
    const interval = parseInterval(part, completions);
    if ('problem' in interval) return interval;
    const { first, last } = interval;
    if (previous !== undefined && previous >= first) return { problem: notIncreasing(previous, first) };
    total += last - first + 1;
    previous = last;
  }
  return { total };
}

const notIncreasing = (previous: number, current: number): string =>
  `non-increasing order, previous: ${previous}, current: ${current}`;

function parseInterval(text: string, completions: number): Interval {
  const limits = text.split('-');
  if (limits.length > 2) {
    const rule = "violates the requirement that an index interval can have at most two parts separated by '-'";
    return { problem: `the fragment ${quote(text)} ${rule}` };
  }
  const numbers: number[] = [];
  for (const limit of limits) {
    if (!/^\+?\d{1,18}$/.test(limit)) {
      return { problem: `cannot convert string to integer for index: ${quote(limit)}` };
    }
    if (Number(limit) >= completions) return { problem: `too large index: ${quote(limit)}` };
    numbers.push(Number(limit));
  }
  const [first = 0, last = first] = numbers;
  return limits.length === 2 && first >= last ? { problem: notIncreasing(first, last) } : { first, last };
}

/** The first index that is in both, if any. Parts that are wrong are left out: others report them. */
export function overlap(one: string, other: string, completions: number): number | undefined {
  if (one === '' || other === '') return undefined;
  const read = (text: string): { first: number; last: number }[] =>
    text.split(',').flatMap((part) => {
      const interval = parseInterval(part, completions);
      return 'problem' in interval ? [] : [interval];
    });
  const [a, b] = [read(one), read(other)];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const [left, right] = [a[i]!, b[j]!];
    if (left.first <= right.last && right.first <= left.last) return Math.max(left.first, right.first);
    if (left.first <= right.first) i++;
    else j++;
  }
  return undefined;
}
