/** ASN.1 in its distinguished encoding (X.690): the types that certificates use. */

export type Der = Buffer;

function tagged(tag: number, content: Buffer): Der {
  const { length } = content;
  const bytes = lengthBytes(length);
  return Buffer.concat([Buffer.from([tag, ...(length < 0x80 ? [length] : [0x80 | bytes.length, ...bytes])]), content]);
}

function lengthBytes(length: number): number[] {
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return bytes;
}

export const sequence = (...parts: readonly Der[]): Der => tagged(0x30, Buffer.concat(parts));
export const set = (...parts: readonly Der[]): Der => tagged(0x31, Buffer.concat(parts));
export const octets = (content: Buffer): Der => tagged(0x04, content);
/** A whole number of bytes, or one byte of which the last `unused` bits do not count. */
export const bits = (content: Buffer, unused = 0): Der => tagged(0x03, Buffer.concat([Buffer.from([unused]), content]));
export const boolean = (value: boolean): Der => tagged(0x01, Buffer.from([value ? 0xff : 0]));
export const utf8 = (text: string): Der => tagged(0x0c, Buffer.from(text));
/** `[n]` around something. */
export const explicit = (number: number, content: Der): Der => tagged(0xa0 | number, content);
/** `[n]` in place of the type's own tag. */
export const implicit = (number: number, content: Buffer): Der => tagged(0x80 | number, content);

/** Not negative, from its bytes. */
export function integer(bytes: Uint8Array): Der {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const content = Buffer.from(bytes.subarray(start));
  return tagged(0x02, content[0]! & 0x80 ? Buffer.concat([Buffer.from([0]), content]) : content);
}

const identifiersKnown = new Map<string, Der>();

/** The few that there are, are encoded once. */
export function objectIdentifier(text: string): Der {
  let der = identifiersKnown.get(text);
  if (!der) identifiersKnown.set(text, (der = encodedIdentifier(text)));
  return der;
}

function encodedIdentifier(text: string): Der {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) bytes.unshift((left & 0x7f) | 0x80);
  return bytes;
}

/** RFC 5280: two digits for the year up to 2049, four from then on. */
export function time(ms: number): Der {
  const digits = new Date(ms).toISOString().replace(/[-:T]/g, '').slice(0, 14);
  const isShort = Number(digits.slice(0, 4)) < 2050;
  return tagged(isShort ? 0x17 : 0x18, Buffer.from(`${isShort ? digits.slice(2) : digits}Z`));
}

/** The parts of a sequence, each with its tag and length. For what we issued or Node has read already. */
export function partsOf(der: Buffer): Der[] {
  const parts: Der[] = [];
  for (let at = headerLength(der, 0); at < der.length;) {
    const end = at + headerLength(der, at) + contentLength(der, at);
    parts.push(der.subarray(at, end));
    at = end;
  }
  return parts;
}

/** Returns the bytes without tag and length. */
export const contentOf = (der: Der): Buffer => der.subarray(headerLength(der, 0));

const headerLength = (der: Buffer, at: number): number => (der[at + 1]! < 0x80 ? 2 : 2 + (der[at + 1]! & 0x7f));

function contentLength(der: Buffer, at: number): number {
  const first = der[at + 1]!;
  return first < 0x80 ? first : der.readUIntBE(at + 2, first & 0x7f);
}
