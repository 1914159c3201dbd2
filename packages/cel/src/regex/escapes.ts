/** Escapes of single characters, the same inside and outside of brackets. */

import { RegexError } from './syntax.ts';

const named: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };

/** Reads what follows a backslash at `at`. */
export function readCharacterEscape(pattern: string, at: number): { codePoint: number; end: number } {
  const bad = (): never => {
    throw new RegexError(`error parsing regexp: invalid escape sequence: \`\\${pattern.slice(at, at + 1)}\``);
  };
  const codePoint = pattern.codePointAt(at);
  if (codePoint === undefined)
    throw new RegexError('error parsing regexp: trailing backslash at end of expression: ``');
  const letter = String.fromCodePoint(codePoint);
  const end = at + letter.length;
  if (letter >= '0' && letter <= '7') {
    const digits = /^[0-7]{1,3}/.exec(pattern.slice(at))![0];
    // A single digit other than 0 would be a back reference, which RE2 does not have.
    if (digits.length === 1 && letter !== '0') bad();
    return { codePoint: Number.parseInt(digits, 8), end: at + digits.length };
  }
  if (letter === 'x') {
    const hex = /^x(?:([0-9a-fA-F]{2})|\{([0-9a-fA-F]+)\})/.exec(pattern.slice(at, at + 16));
    const value = hex === null ? bad() : Number.parseInt(hex[1] ?? hex[2]!, 16);
    return value > 0x10ffff ? bad() : { codePoint: value, end: at + hex![0].length };
  }
  const known = Object.hasOwn(named, letter) ? named[letter] : undefined;
  if (known !== undefined) return { codePoint: known, end };
  if (codePoint < 128 && !/[A-Za-z0-9]/.test(letter)) return { codePoint, end };
  return bad();
}
