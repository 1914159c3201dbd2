/**
 * Keys and ranges of keys. Order is that of the UTF-8 bytes (etcd's and SQLite's), which is not JavaScript's order of
 * strings once a key leaves the Basic Multilingual Plane: always compare with `compareKeys`.
 */

import type { KeyRange } from './contract.ts';
import { StoreError } from './errors.ts';

export const keyBytesMax = 2048;

// Control characters have no place in a path and would make logs and listings lie.
// oxlint-disable-next-line no-control-regex
const refusedCharacters = /[\u0000-\u001f\u007f]/;

export function checkKey(key: string): void {
  const problem = problemWith(key);
  if (problem) throw new StoreError('InvalidKey', `invalid key ${shown(key)}: ${problem}`);
}

/** Formats an untrusted value of any type and length for messages. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80));
  return typeof value === 'number' || value === undefined || value === null
    ? String(value)
    : `a value (${typeof value})`;
}

function problemWith(key: unknown): string | undefined {
  if (typeof key !== 'string') return 'it must be a string';
  if (key.length === 0) return 'it must not be empty';
  if (key.length > keyBytesMax || (key.length * 3 > keyBytesMax && Buffer.byteLength(key) > keyBytesMax)) {
    return `it must not be longer than ${keyBytesMax} bytes`;
  }
  if (refusedCharacters.test(key)) return 'it must not contain control characters';
  if (!key.isWellFormed()) return 'it must be well-formed Unicode';
  return undefined;
}

/** The bounds of a range need not be keys, but they must be comparable with keys. */
export function checkRange(range: KeyRange): void {
  if (typeof range !== 'object' || range === null) {
    throw new StoreError('InvalidRequest', `a range must have a start, got ${shown(range)}`);
  }
  checkBound(range.start);
  if (range.end !== undefined) checkBound(range.end);
}

function checkBound(bound: string): void {
  if (typeof bound === 'string' && bound.length <= keyBytesMax + 1 && bound.isWellFormed()) return;
  throw new StoreError('InvalidKey', `invalid range bound ${shown(bound)}`);
}

export const everything: KeyRange = { start: '' };

export function prefixRange(prefix: string): KeyRange {
  if (prefix === '') return everything;
  const end = afterPrefix(prefix);
  return end === undefined ? { start: prefix } : { start: prefix, end };
}

export function inRange(key: string, range: KeyRange): boolean {
  return compareKeys(key, range.start) >= 0 && (range.end === undefined || compareKeys(key, range.end) < 0);
}

/** Returns the part that two ranges share; undefined if they do not overlap. */
export function intersection(a: KeyRange, b: KeyRange): KeyRange | undefined {
  const start = compareKeys(a.start, b.start) >= 0 ? a.start : b.start;
  const end = a.end === undefined ? b.end : b.end === undefined || compareKeys(a.end, b.end) <= 0 ? a.end : b.end;
  if (end === undefined) return { start };
  return compareKeys(start, end) < 0 ? { start, end } : undefined;
}

/** Returns the first key after `key`, at which the next page of a list starts. */
export function successor(key: string): string {
  // Not a key itself (keys hold no control characters), but a bound directly after `key`.
  return `${key}\u0000`;
}

/** Negative, zero or positive, by UTF-8 bytes. */
export function compareKeys(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const x = a.charCodeAt(at);
    const y = b.charCodeAt(at);
    if (x !== y) return byteOrder(x) - byteOrder(y);
  }
  return a.length - b.length;
}

/** UTF-8 sorts surrogate pairs (U+10000 and up) after U+E000–U+FFFF, UTF-16 code units sort them before. */
function byteOrder(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** The least string greater than every string with this prefix; undefined when there is none. */
function afterPrefix(prefix: string): string | undefined {
  const points = [...prefix].map((character) => character.codePointAt(0) as number);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue;
    const next = last + 1 === 0xd800 ? 0xe000 : last + 1;
    return String.fromCodePoint(...points, next);
  }
  return undefined;
}
