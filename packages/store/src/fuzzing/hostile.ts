/** Arguments that no typed caller would give: what arrives when a caller's own input was not checked. */

import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';

const texts = [
  '',
  'a',
  'a/b',
  'a/',
  '/',
  '.hidden/a',
  't/.hidden/a',
  '\u0000',
  'a\u0000',
  'a\u0000b',
  'a\nb',
  '\u007f',
  '\ud800',
  'a\udfff',
  'é',
  '\uffff',
  '\u{10ffff}',
  '\u{1f680}',
  '__proto__',
  'constructor',
  'k'.repeat(2_048),
  'k'.repeat(2_049),
  'é'.repeat(1_025),
];

export function hostileText(random: Random): string {
  const text = pick(random, texts);
  return chance(random, 0.2) ? text + pick(random, texts) : text;
}

const numbers = [0, -0, 1, 2, 3, -1, 1.5, NaN, Infinity, -Infinity, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 1e300];

export function hostileNumber(random: Random): number {
  return pick(random, numbers);
}

/** Anything at all that JavaScript can hold. */
export function hostileValue(random: Random): unknown {
  switch (random.below(8)) {
    case 0:
      return hostileText(random);
    case 1:
      return hostileNumber(random);
    case 2:
      return pick(random, [undefined, null, true, false]);
    case 3:
      return pick(random, [10n, Symbol('s'), () => 'a', new Date(0), /a/]);
    case 4:
      return pick(random, [new Uint8Array(3), new ArrayBuffer(3), Buffer.from('a'), new Float64Array(2)]);
    case 5:
      return Array.from({ length: random.below(3) }, () => hostileValue(random));
    case 6:
      return { start: hostileValue(random), end: hostileValue(random) };
    default:
      return pick(random, [{}, Object.create(null), { length: 3 }, { toString: 1 }]);
  }
}
