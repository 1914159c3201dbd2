/**
 * Bytes → a JSON value, by `JSON.parse` wherever it can tell enough. Bytes that are not UTF-8 become U+FFFD and so do lone
 * surrogates, as in kube-apiserver. Numbers are doubles: beyond 2^53 the nearest. `__proto__` is a key like others.
 * Of two equal keys the last counts; kube-apiserver merges the values when they are objects.
 */

import { ApiError } from '../errors.ts';
import { bodyWeightMax, depthMax } from '../limits.ts';
import { refuseInfinite } from './infinite.ts';
import { countMembers, countText } from './scan.ts';
import { parseSlowly } from './slow-parser.ts';
import type { RepeatedKeys } from './slow-parser.ts';

export interface ParsedJson {
  readonly value: unknown;
  /** Empty unless `findRepeated` is set, and almost always then. */
  readonly repeated: RepeatedKeys;
}

const none: RepeatedKeys = new Map();

export interface ParseOptions {
  /** Look for objects that have a key more than once. */
  readonly findRepeated?: boolean;
  /** See `bodyWeightMax`. Default: any. */
  readonly weightMax?: number;
}

/** Throws MalformedJson, TooDeep or TooLarge, with kube-apiserver's message if it has one. */
export function parseJson(
  body: Uint8Array | string,
  { findRepeated = false, weightMax = Infinity }: ParseOptions = {},
): ParsedJson {
  const text = typeof body === 'string' ? body : textOf(body);
  const counts = countText(text);
  if (counts.depth > depthMax) return parseSlowly(text);
  if (counts.weight > weightMax || counts.managedWeight > 2 * weightMax) throw tooHeavy();
  let value: unknown;
  try {
    value = JSON.parse(text) as unknown;
  } catch (error) {
    // Throws the specific error.
    parseSlowly(text);
    throw new ApiError('MalformedJson', 'the body is not JSON', { cause: error });
  }
  if (counts.mayOverflow) refuseInfinite(value);
  if (mayHaveSurrogates(text)) return { ...parseSlowly(text), ...(findRepeated ? {} : { repeated: none }) };
  if (findRepeated && countMembers(value) !== counts.members) return parseSlowly(text);
  return { value, repeated: none };
}

export const tooHeavy = (): ApiError =>
  new ApiError(
    'TooLarge',
    `the body has too many values: its weight exceeds ${bodyWeightMax} (a value counts 1, a key 1 more, a key of a large object 3 more, a text or number in a large list 2 more)`,
  );

/** An escaped surrogate: possibly half of a pair. */
const escapedSurrogate = /\\u[dD][89a-fA-F]/;
/** `includes` is faster in short texts, and slower in texts of many backslashes. */
const shortLengthMax = 64 * 1024;

const mayHaveSurrogates = (text: string): boolean =>
  (text.length > shortLengthMax || text.includes('\\u')) && escapedSurrogate.test(text);

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
