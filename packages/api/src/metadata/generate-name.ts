/** Names for objects that ask for one with `generateName`. */

import type { Random } from '@hangar/core';

/** No vowels and nothing that reads like one, so that no words appear. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
/** With the suffix, what every kind allows: 63. */
const baseLengthMax = 58;

export function generateName(base: string, random: Random): string {
  const suffix = Array.from({ length: suffixLength }, () => alphabet[random.below(alphabet.length)]).join('');
  return base.slice(0, baseLengthMax) + suffix;
}
