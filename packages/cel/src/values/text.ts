/** Strings as CEL counts them: in code points. */

import { fail } from '../errors.ts';
import { textLengthMax } from '../limits.ts';
import { allocate, slotBytes, work } from '../work.ts';

export function codePointCount(text: string): number {
  work(text.length);
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff) {
      const next = text.charCodeAt(index + 1);
      if (next >= 0xdc00 && next <= 0xdfff) {
        count -= 1;
        index += 1;
      }
    }
  }
  return count;
}

/** Fails when a text would become longer than texts may. */
export function limited(length: number): void {
  if (length > textLengthMax) fail(`the result would be longer than ${textLengthMax} characters`);
}

/** The text as code points. */
export function codePoints(text: string): string[] {
  work(text.length * nsPerCodePoint);
  allocate(text.length * slotBytes);
  return [...text];
}

const nsPerCodePoint = 20;

/** The shortest digits that mean the value, with an exponent below 1e-4 and from 1e`exponentFrom` on, as Go writes it. */
export function formatDouble(value: number, exponentFrom = 21): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa = '', exponentText = ''] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= exponentFrom) {
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  const negative = mantissa.startsWith('-');
  const digits = mantissa.replace(/[-.]/g, '');
  const body =
    exponent < 0
      ? `0.${'0'.repeat(-exponent - 1)}${digits}`
      : digits.length <= exponent + 1
        ? digits.padEnd(exponent + 1, '0')
        : `${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
  return negative ? `-${body}` : body;
}
