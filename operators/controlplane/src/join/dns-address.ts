/** The cluster IP of the DNS service, by the convention of kubeadm: the tenth address of the service network. */

import { isIP } from 'node:net';

const offset = 10n;

/** `10.96.0.0/12` → `10.96.0.10`. */
export function dnsAddress(serviceCidr: string): string {
  const [address = '', prefix = ''] = serviceCidr.split('/');
  const bits = isIP(address) === 6 ? 128n : 32n;
  const hostBits = bits - BigInt(prefix);
  const network = (numberOf(address) >> hostBits) << hostBits;
  return textOf(network + offset, bits);
}

function numberOf(address: string): bigint {
  if (isIP(address) !== 6) return address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  const [head = '', tail] = address.split('::');
  const parts = (text: string): string[] => text.split(':').filter((part) => part !== '');
  const [first, last] = [parts(head), parts(tail ?? '')];
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0');
  return [...first, ...zeros, ...last].reduce((sum, part) => sum * 65_536n + BigInt(`0x${part}`), 0n);
}

function textOf(value: bigint, bits: bigint): string {
  if (bits === 32n) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');
  const groups = Array.from({ length: 8 }, (_, at) => ((value >> BigInt(112 - 16 * at)) & 0xffffn).toString(16));
  // The URL parser writes IPv6 addresses in their shortest form.
  return new URL(`https://[${groups.join(':')}]`).hostname.slice(1, -1);
}
