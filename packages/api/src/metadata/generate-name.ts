/** Names for objects that ask for one with `generateName`. */

import type { Random } from '@hangar/core';

/** No vowels and no similar digits, so that no words appear. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
/** With the suffix 63, which every kind allows. */
const baseLengthMax = 58;

export function generateName(base: string, random: Random): string {
  const suffix = Array.from({ length: suffixLength }, () => alphabet[random.below(alphabet.length)]).join('');
  return base.slice(0, baseLengthMax) + suffix;
}
