/** Addresses in the networks of a control plane. */

import { isIP } from 'node:net';
import { HostedError } from './errors.ts';

/** Reports whether a host is an address that endpoints can have. Kubernetes rejects loopback addresses there. */
export const isPublicAddress = (host: string): boolean =>
  isIP(host) !== 0 && !host.startsWith('127.') && host !== '::1';

/**
 * Returns an address of a network: `nthAddress('10.96.0.0/12', 1)` is `10.96.0.1`, which the Service `kubernetes` has. `n` is at most 255.
 * Throws `InvalidNetwork`.
 */
export function nthAddress(cidr: string, n: number): string {
  const [network = '', length = ''] = cidr.split('/');
  const family = isIP(network);
  if (family === 0 || !/^\d+$/.test(length)) {
    throw new HostedError('InvalidNetwork', `network ${JSON.stringify(cidr)} is not a network such as 10.96.0.0/12`);
  }
  if (family === 4) {
    const parts = network.split('.');
    return [...parts.slice(0, -1), Number(parts.at(-1)) + n].join('.');
  }
  const last = n.toString(16);
  const address = network.endsWith('::') ? network + last : network.replace(/[0-9a-f]*$/i, (end) => sum(end, n));
  // The canonical form.
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

const sum = (hexadecimal: string, n: number): string => (Number.parseInt(hexadecimal || '0', 16) + n).toString(16);
