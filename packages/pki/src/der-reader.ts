/**
 * Parses DER (X.690) from untrusted clients. Anything but the one distinguished form is refused: two parsers of the same bytes must never
 * read different values. Nothing recurses, so nesting is harmless.
 */

import { PkiError } from './errors.ts';

export interface Element {
  readonly tag: number;
  readonly content: Buffer;
  /** With tag and length. */
  readonly whole: Buffer;
}

export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  objectIdentifier: 0x06,
  sequence: 0x30,
  set: 0x31,
} as const;

const malformed = (problem: string): PkiError =>
  new PkiError('MalformedRequest', `the certificate signing request ${problem}`);

/** Returns the elements in these bytes. Throws `MalformedRequest`. */
export function elementsOf(bytes: Buffer): Element[] {
  const elements: Element[] = [];
  for (let at = 0; at < bytes.length;) {
    const { start, length } = headerAt(bytes, at);
    elements.push({
      tag: bytes[at]!,
      content: bytes.subarray(start, start + length),
      whole: bytes.subarray(at, start + length),
    });
    at = start + length;
  }
  return elements;
}

function headerAt(bytes: Buffer, at: number): { readonly start: number; readonly length: number } {
  const first = bytes[at + 1];
  if (first === undefined) throw malformed('is truncated');
  // Tags of more than one byte do not occur in the parsed formats.
  if ((bytes[at]! & 0x1f) === 0x1f) throw malformed('has a DER tag of more than one byte');
  const count = first < 0x80 ? 0 : first & 0x7f;
  const start = at + 2 + count;
  if (first === 0x80 || count > 4 || start > bytes.length) throw malformed('has an invalid DER length');
  const length = count === 0 ? first : bytes.readUIntBE(at + 2, count);
  if (count > 0 && (length < 0x80 || bytes[at + 2] === 0))
    throw malformed('has a DER length that is not minimally encoded');
  if (start + length > bytes.length) throw malformed('is truncated');
  return { start, length };
}

/** Returns the element if it has this tag. Throws otherwise, or if it is absent. */
export function expected(element: Element | undefined, tag: number): Element {
  if (element?.tag !== tag) throw malformed('has an element of an unexpected type');
  return element;
}

/** Returns the parts of a sequence or a set. */
export const partsIn = (element: Element | undefined, tag: number): Element[] =>
  elementsOf(expected(element, tag).content);

/** Returns the only part of it. */
export function onlyPart(element: Element | undefined, tag: number): Element {
  const [part, ...more] = partsIn(element, tag);
  if (!part || more.length > 0) throw malformed('has a list that must have exactly one element');
  return part;
}

/** Dotted. */
export function identifierIn(element: Element | undefined): string {
  const { content } = expected(element, tags.objectIdentifier);
  const numbers: number[] = [];
  let value = 0;
  let isBegun = false;
  for (const byte of content) {
    if (!isBegun && byte === 0x80) throw malformed('has an object identifier that is not minimally encoded');
    value = value * 128 + (byte & 0x7f);
    if (value > Number.MAX_SAFE_INTEGER) throw malformed('has an object identifier that is too long');
    isBegun = byte >= 0x80;
    if (isBegun) continue;
    numbers.push(value);
    value = 0;
  }
  const [head, ...rest] = numbers;
  if (head === undefined || isBegun) throw malformed('has a truncated object identifier');
  const first = Math.min(Math.floor(head / 40), 2);
  return [first, head - first * 40, ...rest].join('.');
}

/** Must be a whole number of bytes. */
export function bytesOfBits(element: Element | undefined): Buffer {
  const { content } = expected(element, tags.bits);
  if (content[0] !== 0) throw malformed('has a signature that is not a whole number of bytes');
  return content.subarray(1);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const utf16 = new TextDecoder('utf-16be', { fatal: true, ignoreBOM: true });

/** UTF8String, NumericString, PrintableString, IA5String and BMPString: the string types of names. */
export function textOf({ tag, content }: Element): string {
  try {
    if (tag === 0x0c) return utf8.decode(content);
    if (tag === 0x1e) return utf16.decode(content);
  } catch (error) {
    throw new PkiError('MalformedRequest', 'the certificate signing request has a name that is not valid text', {
      cause: error,
    });
  }
  if (tag === 0x12 || tag === 0x13 || tag === 0x16) return asciiOf(content);
  throw malformed('has a name that is not a text string');
}

export function asciiOf(content: Buffer): string {
  if (content.some((byte) => byte >= 0x80)) throw malformed('has a name with bytes that are not ASCII');
  return content.toString('latin1');
}
