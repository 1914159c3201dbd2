/** Number literals: ranges are checked here, so that no later stage meets an int outside int64. */

import { canonical, int64Max, int64Min } from '../values/integers.ts';
import { Uint } from '../values/values.ts';
import type { CelInt } from '../values/values.ts';
import { LexicalError } from './source.ts';

/** The value of an int literal with its sign. */
export function toInt64Literal(text: string, negative: boolean, offset: number): CelInt {
  const value = negative ? -BigInt(text) : BigInt(text);
  if (value > int64Max || value < int64Min) throw new LexicalError(offset, 'invalid int literal');
  return canonical(value);
}

export function toUint64Literal(text: string, offset: number): Uint {
  const value = BigInt(text.slice(0, -1));
  if (value > 2n ** 64n - 1n) throw new LexicalError(offset, 'invalid uint literal');
  return new Uint(value);
}
