/** Sets of characters: ranges of code points and Unicode properties, with or without case. */

import { work } from '../work.ts';

const nsPerCaseFolding = 500;
const nsPerPart = 100;

export interface CharSet {
  readonly negated: boolean;
  /** Pairs: first and last code point, both included. */
  readonly ranges: readonly number[];
  /** Parts that can only be expressed by a property (or a negated class inside this class). */
  readonly parts: readonly ((codePoint: number) => boolean)[];
  readonly foldCase: boolean;
}

export function charSet(ranges: readonly number[], options: Partial<Omit<CharSet, 'ranges'>> = {}): CharSet {
  return { negated: false, parts: [], foldCase: false, ...options, ranges };
}

export function includes(set: CharSet, codePoint: number): boolean {
  let hit = plainlyIncludes(set, codePoint);
  if (!hit && set.foldCase) work(nsPerCaseFolding);
  if (!hit && set.foldCase) hit = otherCases(codePoint).some((other) => plainlyIncludes(set, other));
  return hit !== set.negated;
}

function plainlyIncludes({ ranges, parts }: CharSet, codePoint: number): boolean {
  work(ranges.length + parts.length * nsPerPart);
  for (let index = 0; index < ranges.length; index += 2) {
    if (codePoint >= ranges[index]! && codePoint <= ranges[index + 1]!) return true;
  }
  for (const part of parts) if (part(codePoint)) return true;
  return false;
}

/** Characters that differ from one only by case: what simple case folding puts together. */
const special: Readonly<Record<number, readonly number[]>> = {
  0x4b: [0x212a],
  0x6b: [0x212a],
  0x53: [0x17f],
  0x73: [0x17f],
  0xe5: [0x212b],
  0xc5: [0x212b],
  0x3b8: [0x3d1, 0x3f4],
  0x398: [0x3d1, 0x3f4],
  0x3bc: [0xb5],
  0x39c: [0xb5],
};

function otherCases(codePoint: number): readonly number[] {
  const text = String.fromCodePoint(codePoint);
  const cases = new Set<number>(special[codePoint] ?? []);
  for (const other of [text.toLowerCase(), text.toUpperCase(), text.toUpperCase().toLowerCase()]) {
    const first = other.codePointAt(0)!;
    // ß becomes SS: not one character, so not a simple case.
    if (other.length === (first > 0xffff ? 2 : 1)) cases.add(first);
  }
  cases.delete(codePoint);
  return [...cases];
}

export const perlClasses: Readonly<Record<string, readonly number[]>> = {
  d: [48, 57],
  s: [9, 10, 12, 13, 32, 32],
  w: [48, 57, 65, 90, 95, 95, 97, 122],
};

export const posixClasses: Readonly<Record<string, readonly number[]>> = {
  alnum: [48, 57, 65, 90, 97, 122],
  alpha: [65, 90, 97, 122],
  ascii: [0, 127],
  blank: [9, 9, 32, 32],
  cntrl: [0, 31, 127, 127],
  digit: [48, 57],
  graph: [33, 126],
  lower: [97, 122],
  print: [32, 126],
  punct: [33, 47, 58, 64, 91, 96, 123, 126],
  space: [9, 13, 32, 32],
  upper: [65, 90],
  word: [48, 57, 65, 90, 95, 95, 97, 122],
  xdigit: [48, 57, 65, 70, 97, 102],
};

/** A Unicode category (`L`, `Lu`) or script (`Greek`), or undefined when there is none of that name. */
export function unicodeProperty(name: string): ((codePoint: number) => boolean) | undefined {
  if (name === 'Any') return () => true;
  const form = /^[A-Z][a-z&]?$/.test(name) ? name : /^[A-Z][A-Za-z_]+$/.test(name) ? `Script=${name}` : undefined;
  if (form === undefined) return undefined;
  try {
    // One character against one property: there is nothing to backtrack over.
    const pattern = new RegExp(`^\\p{${form}}$`, 'u');
    return (codePoint) => pattern.test(String.fromCodePoint(codePoint));
  } catch {
    return undefined;
  }
}
