/** IP addresses and networks: strict parsing (no leading zeros, no zones, no IPv4 inside IPv6), canonical text. */

import { Opaque } from '../values/values.ts';

export class Address extends Opaque {
  /** 4 or 16 of them. */
  readonly bytes: readonly number[];

  constructor(bytes: readonly number[]) {
    super();
    this.bytes = bytes;
  }

  override get typeName(): string {
    return 'net.IP';
  }

  override get size(): number {
    return this.bytes.length;
  }

  get family(): 4 | 6 {
    return this.bytes.length === 4 ? 4 : 6;
  }

  override equals(other: Opaque): boolean {
    return other instanceof Address && sameBits(this.bytes, other.bytes, this.bytes.length * 8);
  }

  override toString(): string {
    return this.family === 4 ? this.bytes.join('.') : formatV6(this.bytes);
  }
}

export class Network extends Opaque {
  readonly address: Address;
  readonly prefixLength: number;

  constructor(address: Address, prefixLength: number) {
    super();
    this.address = address;
    this.prefixLength = prefixLength;
  }

  override get typeName(): string {
    return 'net.CIDR';
  }

  override get size(): number {
    return Math.ceil(this.prefixLength / 8);
  }

  override equals(other: Opaque): boolean {
    return other instanceof Network && other.prefixLength === this.prefixLength && this.address.equals(other.address);
  }

  override toString(): string {
    return `${this.address.toString()}/${this.prefixLength}`;
  }

  contains(address: Address): boolean {
    return sameBits(this.address.bytes, address.bytes, this.prefixLength);
  }

  containsNetwork(other: Network): boolean {
    return this.prefixLength <= other.prefixLength && this.contains(other.address);
  }

  masked(): Network {
    const bytes = this.address.bytes.map((byte, index) => {
      const kept = Math.max(0, Math.min(8, this.prefixLength - index * 8));
      return byte & (0xff00 >> kept) & 0xff;
    });
    return new Network(new Address(bytes), this.prefixLength);
  }
}

function sameBits(a: readonly number[], b: readonly number[], bits: number): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index * 8 < bits; index++) {
    const mask = bits - index * 8 >= 8 ? 0xff : (0xff00 >> (bits - index * 8)) & 0xff;
    if ((a[index]! & mask) !== (b[index]! & mask)) return false;
  }
  return true;
}

/** No address is longer. */
const addressLengthMax = 64;

export function parseAddress(text: string): Address | undefined {
  if (text.length > addressLengthMax) return undefined;
  const bytes = text.includes(':') ? parseV6(text) : parseV4(text);
  if (bytes === undefined) return undefined;
  const mapped =
    bytes.length === 16 && bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
  return mapped ? undefined : new Address(bytes);
}

function parseV4(text: string): number[] | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256))
    return undefined;
  return parts.map(Number);
}

function parseV6(text: string): number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half) => groups(half));
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  if (halves.length === 1) return head.length === 16 ? head : undefined;
  const missing = 16 - head.length - tail!.length;
  // `::` replaces at least one group of zeros.
  return missing < 2 ? undefined : [...head, ...Array.from({ length: missing }, () => 0), ...tail!];
}

/** Groups of hexadecimal digits, the last possibly as an IPv4 address. */
function groups(text: string): number[] | undefined {
  if (text === '') return [];
  const bytes: number[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    if (part.includes('.')) {
      const embedded = index === parts.length - 1 ? parseV4(part) : undefined;
      if (embedded === undefined) return undefined;
      bytes.push(...embedded);
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(part)) return undefined;
      const group = Number.parseInt(part, 16);
      bytes.push(group >> 8, group & 0xff);
    }
  }
  return bytes;
}

/** RFC 5952: lower case, no leading zeros, the longest run of at least two zero groups as `::`. */
function formatV6(bytes: readonly number[]): string {
  const values = Array.from({ length: 8 }, (_, index) => bytes[index * 2]! * 256 + bytes[index * 2 + 1]!);
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (start + length < 8 && values[start + length] === 0) length += 1;
    if (length > best.length) best = { start, length };
  }
  const hex = (part: readonly number[]): string => part.map((value) => value.toString(16)).join(':');
  if (best.start === -1) return hex(values);
  return `${hex(values.slice(0, best.start))}::${hex(values.slice(best.start + best.length))}`;
}

export function parseNetwork(text: string): Network | undefined {
  const match = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text);
  const address = match ? parseAddress(match[1]!) : undefined;
  if (!match || address === undefined) return undefined;
  const prefixLength = Number(match[2]);
  return prefixLength > address.bytes.length * 8 ? undefined : new Network(address, prefixLength);
}
