/**
 * Encodes the headers of a request or an answer as a block (RFC 7541), as text of one byte per character: joining strings is cheaper than
 * copying bytes. Nothing is added to the table of the other side, so blocks do not depend on each other, and nothing secret can be guessed
 * from their sizes.
 */

import { staticFields } from './static-table.ts';

/** A number after the bits of its first byte, which are given with it. */
function integer(firstBits: number, mask: number, value: number): string {
  if (value < mask) return String.fromCharCode(firstBits | value);
  let text = String.fromCharCode(firstBits | mask);
  let rest = value - mask;
  for (; rest >= 0x80; rest >>>= 7) text += String.fromCharCode(0x80 | (rest & 0x7f));
  return text + String.fromCharCode(rest);
}

const literal = (text: string): string => integer(0, 0x7f, text.length) + text;

const goodName = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const ofHttp1 = new Set(['connection', 'proxy-connection', 'keep-alive', 'transfer-encoding', 'upgrade']);

const namesMax = 500;
/** The begin of a header, by its name: literal, not for the table. Empty: it is left out. */
const names = new Map<string, string>();

function nameOf(given: string): string {
  const known = names.get(given);
  if (known !== undefined) return known;
  const name = given.toLowerCase();
  if (!goodName.test(name)) throw new TypeError(`${JSON.stringify(given)} is not a valid header name`);
  const index = staticFields.findIndex((field) => field.name === name) + 1;
  const begin = ofHttp1.has(name) ? '' : index > 0 ? integer(0, 0x0f, index) : `\0${literal(name)}`;
  // An answer that is handed on may have any names.
  if (names.size < namesMax) names.set(given, begin);
  return begin;
}

// eslint-disable-next-line no-control-regex
const badValue = /[^\t\x20-\x7e\x80-\xff]/;

/** Throws for headers that are invalid in HTTP/1.1 too. */
export function encodedField(name: string, value: string): string {
  const begin = nameOf(name);
  if (begin === '') return '';
  if (badValue.test(value)) throw new TypeError(`the value of the header ${name} contains invalid characters`);
  return begin + integer(0, 0x7f, value.length) + value;
}

/** For a request; they come before all others. */
export function encodedPseudoField(name: ':method' | ':scheme' | ':authority' | ':path', value: string): string {
  if (badValue.test(value)) throw new TypeError(`${name} contains invalid characters`);
  return integer(0, 0x0f, staticFields.findIndex((field) => field.name === name) + 1) + literal(value);
}

const statuses = new Map<number, string>(
  staticFields.flatMap(({ name, value }, at) =>
    name === ':status' ? [[Number(value), integer(0x80, 0x7f, at + 1)] as const] : [],
  ),
);
const statusBegin = integer(0, 0x0f, staticFields.findIndex(({ name }) => name === ':status') + 1);

const encodedStatus = (status: number): string => statuses.get(status) ?? statusBegin + literal(String(status));

/** Headers of an answer, by name. */
export type EncodedHeaders = Readonly<Record<string, string | readonly string[]>>;

export const encodedHead = (status: number, headers: EncodedHeaders): string =>
  encodedFields(headers, encodedStatus(status));

/** Appends fields to a block. Trailers are a block of fields alone. */
export function encodedFields(headers: EncodedHeaders, block = ''): string {
  for (const name in headers) {
    const value = headers[name]!;
    if (typeof value === 'string') block += encodedField(name, value);
    else for (const one of value) block += encodedField(name, one);
  }
  return block;
}

/** Said first in a block when the other end made its table smaller: ours is empty anyway. */
export const emptyTable = '\x20';
