/**
 * One pass over JSON text that counts: how deep it nests, how many members its objects have, and how much all of it weighs.
 * `JSON.parse` keeps the last of two equal keys, so a text with more members than the parsed value has a duplicate somewhere;
 * only then the slow parser finds the place. The text need not be valid: only the weight of invalid text means something.
 */

import { depthMax, wideFrom } from '../limits.ts';

export interface Counts {
  readonly depth: number;
  readonly members: number;
  /** See `bodyWeightMax`; without `metadata.managedFields`. */
  readonly weight: number;
  /** Weight of `metadata.managedFields`. */
  readonly managedWeight: number;
  /** A number has an exponent or very many digits. */
  readonly mayOverflow: boolean;
}

/** The members so far of the object or list at each depth, and whether it is a list. Used by one call at a time. */
const membersAt = new Int32Array(depthMax + 2);
const isListAt = new Uint8Array(depthMax + 2);

/** Its depth in an object. */
const metadataDepth = 2;
const metadata = '"metadata"';
const managedFields = '"managedFields"';

const isText = (text: string, start: number, end: number, what: string): boolean =>
  end - start === what.length - 1 && text.startsWith(what, start);

/** Fewer digits than these are a finite number. */
const digitsMax = 300;

export function countText(text: string): Counts {
  let mayOverflow = false;
  /** Behind the last bracket, comma, colon or string. */
  let numberFrom = 0;
  let depth = 0;
  let depthNow = 0;
  let members = 0;
  let weight = 1;
  let managedWeight = 0;
  /** Weight before managedFields; -1 outside of them. */
  let weightBefore = -1;
  /** The last text at the top was `metadata`, which is the key of what follows. */
  let isMetadata = false;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x22: {
        const end = endOfString(text, i);
        if (end < 0) return { depth, members, weight, managedWeight, mayOverflow };
        if (depthNow === 1) isMetadata = isText(text, i, end, metadata);
        else if (depthNow === metadataDepth && isMetadata && weightBefore < 0 && isText(text, i, end, managedFields)) {
          weightBefore = weight;
        }
        i = end;
        numberFrom = end;
        break;
      }
      case 0x45:
      case 0x65:
        // Neither `true` nor `false`.
        if (i > 0 && isDigitOrPoint(text.charCodeAt(i - 1))) mayOverflow = true;
        break;
      case 0x3a:
        numberFrom = i;
        members++;
        weight += ++membersAt[depthNow]! > wideFrom ? 3 : 1;
        break;
      case 0x2c:
        if (i - numberFrom > digitsMax) mayOverflow = true;
        numberFrom = i;
        weight++;
        if (isListAt[depthNow] === 1 && ++membersAt[depthNow]! >= wideFrom && isScalarAfter(text, i)) weight += 2;
        break;
      case 0x5b:
      case 0x7b:
        numberFrom = i;
        weight++;
        if (++depthNow > depth) depth = depthNow;
        membersAt[depthNow] = 0;
        isListAt[depthNow] = text.charCodeAt(i) === 0x5b ? 1 : 0;
        break;
      case 0x5d:
      case 0x7d:
        if (i - numberFrom > digitsMax) mayOverflow = true;
        numberFrom = i;
        depthNow--;
        if (depthNow > metadataDepth || weightBefore < 0) break;
        managedWeight += weight - weightBefore;
        weight = weightBefore;
        weightBefore = -1;
        break;
    }
  }
  if (text.length - numberFrom > digitsMax) mayOverflow = true;
  return { depth, members, weight, managedWeight, mayOverflow };
}

/** Returns whether a text, a number, true, false or null follows the comma. */
function isScalarAfter(text: string, comma: number): boolean {
  let at = comma + 1;
  while (text.charCodeAt(at) <= 0x20) at++;
  const first = text.charCodeAt(at);
  return first !== 0x5b && first !== 0x7b;
}

const isDigitOrPoint = (code: number): boolean => (code >= 0x30 && code <= 0x39) || code === 0x2e;

/** Like `countText`, for a value whose nesting was checked. Stops above `max`. */
export function weightOf(value: unknown, max: number): number {
  let weight = 0;
  const visit = (one: unknown): void => {
    weight++;
    if (typeof one !== 'object' || one === null || weight > max) return;
    if (Array.isArray(one)) {
      for (let i = 0; i < one.length && weight <= max; i++) {
        const item: unknown = one[i];
        if (i >= wideFrom && (typeof item !== 'object' || item === null)) weight += 2;
        visit(item);
      }
      return;
    }
    const keys = Object.keys(one);
    weight += keys.length;
    if (keys.length > wideFrom) weight += 2 * (keys.length - wideFrom);
    for (let i = 0; i < keys.length && weight <= max; i++) visit((one as Record<string, unknown>)[keys[i]!]);
  };
  visit(value);
  return weight;
}

/** The position of the closing quote; -1 when there is none. */
function endOfString(text: string, start: number): number {
  const first = text.indexOf('"', start + 1);
  if (first < 0 || text.charCodeAt(first - 1) !== 0x5c) return first;
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at;
    // The next character is escaped.
    if (code === 0x5c) at++;
  }
  return -1;
}

/** The members of every object inside. The value's nesting must have been checked before. */
export function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) members += countMembers(value[i]);
    return members;
  }
  // Does not copy the keys. Parsed objects inherit none.
  for (const key in value) {
    members++;
    const inner = (value as Record<string, unknown>)[key];
    if (typeof inner === 'object' && inner !== null) members += countMembers(inner);
  }
  return members;
}
