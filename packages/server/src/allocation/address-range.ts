/**
 * The addresses of one service CIDR. An address is a number here, so that ranges are arithmetic:
 *
 *   10.0.0.0/24    network .0 │ first .1 … static band … .16 │ dynamic .17 … last .254 │ broadcast .255
 *
 * Addresses are allocated from the dynamic part while it has free ones, so addresses of the static band mostly stay free for services that
 * request one.
 */

import { formatIp, isIpv4, parseIp } from '@hangar/api';
import type { Random } from '@hangar/core';

export type IpFamily = 'IPv4' | 'IPv6';

const sizeOf: Readonly<Record<IpFamily, bigint>> = { IPv4: 32n, IPv6: 128n };
const mappedPrefix = 0xffffn << 32n;

export class AddressRange {
  /** As written: `10.0.0.0/24`. */
  readonly cidr: string;
  readonly family: IpFamily;
  readonly network: bigint;
  readonly first: bigint;
  readonly last: bigint;
  /** First address of the dynamic part. */
  readonly dynamic: bigint;
  readonly #broadcast: bigint;

  private constructor(cidr: string, family: IpFamily, address: bigint, prefixLength: bigint) {
    this.cidr = cidr;
    this.family = family;
    const hostBits = sizeOf[family] - prefixLength;
    const size = 1n << hostBits;
    this.network = (address >> hostBits) << hostBits;
    this.#broadcast = this.network + size - 1n;
    this.first = this.network + 1n;
    // IPv6 has no broadcast address.
    this.last = family === 'IPv4' ? this.#broadcast - 1n : this.#broadcast;
    this.dynamic = this.first + staticBand(size);
  }

  /** Returns undefined if the text is not a CIDR. */
  static parse(cidr: string): AddressRange | undefined {
    const [text, length] = cidr.split('/');
    const parsed = parseAddress(text!);
    if (!parsed || !/^\d{1,3}$/.test(length ?? '') || BigInt(length!) > sizeOf[parsed.family]) return undefined;
    return new AddressRange(cidr, parsed.family, parsed.value, BigInt(length!));
  }

  /** Reports whether a service may have the address: in the range, but neither the network nor the broadcast address. */
  contains({ family, value }: ParsedAddress): boolean {
    return family === this.family && value >= this.first && value <= this.last;
  }

  get networkAddress(): string {
    return formatAddress(this.network, this.family);
  }

  /** Yields each address once: first the dynamic part from a random start, then the static band in the same way. */
  *candidates(random: Random): Generator<string> {
    yield* this.#around(this.dynamic, this.last, random);
    yield* this.#around(this.first, this.dynamic - 1n, random);
  }

  *#around(from: bigint, to: bigint, random: Random): Generator<string> {
    if (from > to) return;
    const start = from + randomBelow(to - from + 1n, random);
    for (let at = start; at <= to; at++) yield formatAddress(at, this.family);
    for (let at = from; at < start; at++) yield formatAddress(at, this.family);
  }
}

/** Returns the size of the static band: a sixteenth of the range, 16 to 256 addresses; small ranges have none. */
function staticBand(size: bigint): bigint {
  if (size <= 16n) return 0n;
  const part = size / 16n;
  return part < 16n ? 16n : part > 256n ? 256n : part;
}

function randomBelow(bound: bigint, random: Random): bigint {
  if (bound <= 0xffff_ffffn) return BigInt(random.below(Number(bound)));
  return BigInt(`0x${Buffer.from(random.bytes(16)).toString('hex')}`) % bound;
}

export interface ParsedAddress {
  readonly family: IpFamily;
  readonly value: bigint;
}

export function parseAddress(text: string): ParsedAddress | undefined {
  const address = parseIp(text);
  if (!address) return undefined;
  const value = BigInt(`0x${Buffer.from(address.bytes).toString('hex')}`);
  return isIpv4(address) ? { family: 'IPv4', value: value - mappedPrefix } : { family: 'IPv6', value };
}

/** Returns the canonical text, which is also the name of the IPAddress. */
export function formatAddress(value: bigint, family: IpFamily): string {
  const all = family === 'IPv4' ? value + mappedPrefix : value;
  const bytes = Buffer.from(all.toString(16).padStart(32, '0'), 'hex');
  return formatIp({ bytes, isDotted: family === 'IPv4' });
}
