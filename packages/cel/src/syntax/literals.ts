/** Converts the text between quotes to a string or bytes: escapes, raw forms, triple quotes. */

const simple: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  '\\': 92,
  '?': 63,
  '"': 34,
  "'": 39,
  '`': 96,
};

const digitCount: Readonly<Record<string, number>> = { x: 2, X: 2, u: 4, U: 8 };

/** Value of an escape: a code point, or (in bytes) one byte. */
interface Escape {
  readonly value: number;
  readonly length: number;
  /** Whether it is a byte inside a bytes literal. */
  readonly byte: boolean;
}

/** Reads the escape after a backslash at `at`; undefined if it is invalid. */
function readEscape(text: string, at: number): Escape | undefined {
  const letter = text[at] ?? '';
  const known = Object.hasOwn(simple, letter) ? simple[letter] : undefined;
  if (known !== undefined) return { value: known, length: 1, byte: true };
  const digits = Object.hasOwn(digitCount, letter) ? digitCount[letter] : undefined;
  if (digits !== undefined) {
    const hex = text.slice(at + 1, at + 1 + digits);
    if (hex.length !== digits || !/^[0-9a-fA-F]+$/.test(hex)) return undefined;
    return { value: Number.parseInt(hex, 16), length: 1 + digits, byte: digits === 2 };
  }
  const octal = text.slice(at, at + 3);
  return /^[0-3][0-7][0-7]$/.test(octal) ? { value: Number.parseInt(octal, 8), length: 3, byte: true } : undefined;
}

/** Unescapes a string literal's body, or returns the error. */
export function unescapeString(body: string): { text: string } | { error: string } {
  if (!body.includes('\\')) return { text: body };
  let text = '';
  for (let at = 0; at < body.length; at++) {
    if (body[at] !== '\\') {
      text += body[at]!;
      continue;
    }
    const escape = readEscape(body, at + 1);
    if (!escape) return { error: 'invalid escape sequence' };
    const { value, length } = escape;
    if (value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return { error: 'invalid unicode code point' };
    text += String.fromCodePoint(value);
    at += length;
  }
  return { text };
}

/** Like `unescapeString` for bytes: plain text is UTF-8, `\x` and octal escapes are single bytes, `\u` is not supported. */
export function unescapeBytes(body: string): { bytes: Uint8Array } | { error: string } {
  const bytes: number[] = [];
  for (let at = 0; at < body.length;) {
    if (body[at] !== '\\') {
      const end = body.indexOf('\\', at);
      for (const byte of Buffer.from(body.slice(at, end === -1 ? undefined : end), 'utf8')) bytes.push(byte);
      at = end === -1 ? body.length : end;
      continue;
    }
    const escape = readEscape(body, at + 1);
    if (!escape?.byte) return { error: 'invalid escape sequence in bytes' };
    bytes.push(escape.value);
    at += 1 + escape.length;
  }
  return { bytes: Uint8Array.from(bytes) };
}
