/**
 * Policy for outgoing connections. Tenants name targets in webhooks and APIServices, but the connection is made from the server: its own
 * loopback and the machine's link-local services, such as cloud metadata, would trust it. So these are refused, in any notation of an
 * address, unless the administrator allows them.
 *
 * The policy is applied to resolved addresses: see `Connector`, which checks the same address that it connects to.
 */

import { BlockList, isIP } from 'node:net';
import { OutboundError } from './errors.ts';
import type { HostAddresses } from './host-addresses.ts';

/** Network, length of its prefix, family. */
type Subnet = readonly [string, number, 'ipv4' | 'ipv6'];

const forbidden: readonly Subnet[] = [
  ['0.0.0.0', 8, 'ipv4'], // unspecified: connects to this machine
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'], // link-local, and most clouds' metadata
  ['224.0.0.0', 4, 'ipv4'],
  ['240.0.0.0', 4, 'ipv4'], // reserved, broadcast
  ['100.100.100.200', 32, 'ipv4'], // metadata services outside of link-local
  ['168.63.129.16', 32, 'ipv4'],
  ['192.0.0.192', 32, 'ipv4'],
  ['::', 128, 'ipv6'],
  ['::1', 128, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['fec0::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
  ['fd00:ec2::254', 128, 'ipv6'], // metadata services
  ['fd20:ce::254', 128, 'ipv6'],
];

/** Parses `10.0.0.0/8`, `fd00::/8`, or one address. Throws an Error that states the problem. */
export function parseCidr(text: string): Subnet {
  const [address = '', length, ...rest] = text.split('/');
  const version = isIP(address);
  const bits = version === 6 ? 128 : 32;
  const prefix = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : -1;
  if (version === 0 || rest.length > 0 || prefix < 0 || prefix > bits || address.includes('%')) {
    throw new Error(`"${text}" is not a network such as 10.0.0.0/8 or fd00::/8`);
  }
  return [address, prefix, version === 6 ? 'ipv6' : 'ipv4'];
}

/** Decides to which addresses a connection may be opened. */
export interface AddressRule {
  /** Returns the error for an address that is not allowed, or undefined. Invalid addresses are not allowed. */
  refusal(address: string): OutboundError | undefined;
}

export class AddressPolicy implements AddressRule {
  readonly #forbidden = new BlockList();
  readonly #allowed = new BlockList();
  readonly #host: HostAddresses | undefined;

  /**
   * `allow`: networks that are permitted although they would be refused. `host`: addresses that are refused besides the forbidden networks.
   * Throws if an entry of `allow` is not a network.
   */
  constructor(allow: readonly string[] = [], host?: HostAddresses) {
    this.#host = host;
    for (const [network, prefix, family] of forbidden) this.#forbidden.addSubnet(network, prefix, family);
    for (const text of allow) {
      const [network, prefix, family] = parseCidr(text);
      this.#allowed.addSubnet(network, prefix, family);
    }
  }

  /** Allows everything: for targets that the administrator configured. */
  static readonly unrestricted: AddressPolicy = new AddressPolicy(['0.0.0.0/0', '::/0']);

  /** Reports whether an IP address is allowed; invalid addresses are not. */
  allows(address: string): boolean {
    // A zone identifies the link, not the address.
    const plain = address.split('%', 1)[0]!;
    const version = isIP(plain);
    if (version === 0) return false;
    const forms = version === 6 ? [plain, ...embedded(plain)] : [plain];
    return forms.every((one) => {
      const family = isIP(one) === 6 ? 'ipv6' : 'ipv4';
      if (this.#allowed.check(one, family)) return true;
      return !this.#forbidden.check(one, family) && !this.#host?.has(one, family);
    });
  }

  refusal(address: string): OutboundError | undefined {
    return this.allows(address) ? undefined : refused(address);
  }
}

const refused = (address: string): OutboundError =>
  new OutboundError('Refused', `dial tcp ${address}: the address is not allowed by this server's policy`);

/**
 * Returns the IPv4 addresses that gateways and old stacks extract from an IPv6 address: mapped, translated, compatible, NAT64 (also its
 * local-use prefix, whose networks put the address at several places), 6to4, Teredo (server, then client), ISATAP.
 */
function embedded(address: string): string[] {
  const groups = groupsOf(address);
  if (!groups) return [];
  const ipv4 = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join('.');
  const last = ipv4(groups[6]!, groups[7]!);
  const isZero = (from: number, to: number): boolean => groups.slice(from, to).every((one) => one === 0);
  if (isZero(0, 5) && groups[5] === 0xffff) return [last];
  if (isZero(0, 4) && groups[4] === 0xffff && groups[5] === 0) return [last];
  if (isZero(0, 6)) return groups[6] === 0 && groups[7]! <= 1 ? [] : [last];
  if (groups[0] === 0x64 && groups[1] === 0xff9b) {
    return groups[2] === 1 ? localNat64(groups, ipv4) : [last];
  }
  if (groups[0] === 0x2002) return [ipv4(groups[1]!, groups[2]!)];
  if (groups[0] === 0x2001 && groups[1] === 0) {
    return [ipv4(groups[2]!, groups[3]!), ipv4(groups[6]! ^ 0xffff, groups[7]! ^ 0xffff)];
  }
  return (groups[4]! & 0xfdff) === 0 && groups[5] === 0x5efe ? [last] : [];
}

/** RFC 6052 skips the bits 64 to 71: addresses after a prefix of 96, 48, 56 and 64 bits. A leading zero is padding. */
const localNat64 = (groups: readonly number[], ipv4: (high: number, low: number) => string): string[] =>
  [
    ipv4(groups[6]!, groups[7]!),
    ipv4(groups[3]!, ((groups[4]! & 0xff) << 8) | (groups[5]! >> 8)),
    ipv4(((groups[3]! & 0xff) << 8) | (groups[4]! & 0xff), groups[5]!),
    ipv4(((groups[4]! & 0xff) << 8) | (groups[5]! >> 8), ((groups[5]! & 0xff) << 8) | (groups[6]! >> 8)),
  ].filter((address) => !address.startsWith('0.'));

/** Returns the eight groups of an address that `isIP` accepted. */
function groupsOf(address: string): number[] | undefined {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const hex = (high: string, low: string): string => ((Number(high) << 8) | Number(low)).toString(16);
  const text = dotted ? `${dotted[1]}${hex(dotted[2]!, dotted[3]!)}:${hex(dotted[4]!, dotted[5]!)}` : address;
  const [head = '', tail] = text.split('::');
  const numbers = (part: string): number[] => (part === '' ? [] : part.split(':').map((one) => parseInt(one, 16)));
  const [first, rest] = [numbers(head), numbers(tail ?? '')];
  const missing = 8 - first.length - rest.length;
  if (missing < 0) return undefined;
  return [...first, ...Array<number>(tail === undefined ? 0 : missing).fill(0), ...rest];
}
