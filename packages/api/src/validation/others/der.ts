/** DER, as far as a certificate signing request needs it: elements with a tag and contents, some nested. */

export interface Element {
  readonly tag: number;
  readonly content: Uint8Array;
  /** With tag and length. */
  readonly whole: Uint8Array;
}

/** The elements that fill these bytes; undefined when they do not. */
export function readElements(bytes: Uint8Array): Element[] | undefined {
  const elements: Element[] = [];
  for (let at = 0; at < bytes.length;) {
    const header = readHeader(bytes, at);
    if (!header) return undefined;
    const end = header.start + header.length;
    elements.push({ tag: bytes[at]!, content: bytes.subarray(header.start, end), whole: bytes.subarray(at, end) });
    at = end;
  }
  return elements;
}

function readHeader(bytes: Uint8Array, at: number): { start: number; length: number } | undefined {
  const first = bytes[at + 1];
  if (first === undefined) return undefined;
  const count = first < 0x80 ? 0 : first & 0x7f;
  if (first === 0x80 || count > 4) return undefined;
  let length = first < 0x80 ? first : 0;
  for (let i = 0; i < count; i++) length = length * 256 + (bytes[at + 2 + i] ?? Number.POSITIVE_INFINITY);
  const start = at + 2 + count;
  return start + length <= bytes.length ? { start, length } : undefined;
}

/** Dotted. */
export function readObjectIdentifier(content: Uint8Array): string {
  const numbers: number[] = [];
  let value = 0;
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    numbers.push(value);
    value = 0;
  }
  const first = Math.min(Math.floor((numbers[0] ?? 0) / 40), 2);
  return [first, (numbers[0] ?? 0) - first * 40, ...numbers.slice(1)].join('.');
}
