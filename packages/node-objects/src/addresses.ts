/** Addresses in a network. */

import { isIP } from 'node:net';
import { NodeObjectsError } from './errors.ts';

/**
 * Returns an address of a network: `nthAddress('10.96.0.0/12', 1)` is `10.96.0.1`, which the Service `kubernetes` has. Throws
 * `InvalidNetwork`.
 */
export function nthAddress(cidr: string, n: number): string {
  const [address = '', length = ''] = cidr.split('/');
  const family = isIP(address);
  const bits = family === 6 ? 128 : 32;
  if (family === 0 || !/^\d+$/.test(length) || Number(length) > bits) {
    const message = `network ${JSON.stringify(cidr)} is not a network such as 10.96.0.0/12`;
    throw new NodeObjectsError('InvalidNetwork', message);
  }
  const hostBits = BigInt(bits - Number(length));
  const network = (numberOf(address) >> hostBits) << hostBits;
  return textOf(network + BigInt(n), family);
}

function numberOf(address: string): bigint {
  if (isIP(address) !== 6) return address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  const [head = '', tail] = address.split('::');
  const parts = (text: string): string[] => text.split(':').filter((part) => part !== '');
  const [first, last] = [parts(head), parts(tail ?? '')];
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0');
  return [...first, ...zeros, ...last].reduce((sum, part) => sum * 65_536n + BigInt(`0x${part}`), 0n);
}

function textOf(value: bigint, family: number): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');
  const groups = Array.from({ length: 8 }, (_, at) => ((value >> BigInt(112 - 16 * at)) & 0xffffn).toString(16));
  // The URL parser writes IPv6 addresses in their shortest form.
  return new URL(`https://[${groups.join(':')}]`).hostname.slice(1, -1);
}
