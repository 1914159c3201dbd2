/** Addresses in the networks of a control plane. */

import { isIP } from 'node:net';
import { HostedError } from '../../errors.ts';

/** Reports whether a host is an address that endpoints can have. Kubernetes rejects loopback addresses there. */
export const isPublicAddress = (host: string): boolean =>
  isIP(host) !== 0 && !host.startsWith('127.') && host !== '::1';

/**
 * Returns the first address of a network, which the Service `kubernetes` has: `10.96.0.0/12` → `10.96.0.1`. Throws `InvalidNetwork`.
 */
export function serviceAddress(cidr: string): string {
  const [network = '', length = ''] = cidr.split('/');
  const family = isIP(network);
  if (family === 0 || !/^\d+$/.test(length)) {
    throw new HostedError('InvalidNetwork', `network ${JSON.stringify(cidr)} is not a network such as 10.96.0.0/12`);
  }
  if (family === 6)
    return new URL(`http://[${network.endsWith('::') ? `${network}1` : nextAddress(network)}]`).hostname.slice(1, -1);
  return nextAddress(network);
}

/** The address after this one. The network address of a valid network is even, so only the last number changes. */
function nextAddress(address: string): string {
  const separator = address.includes(':') ? ':' : '.';
  const parts = address.split(separator);
  const last = parts.at(-1)!;
  const next = separator === '.' ? Number(last) + 1 : (Number.parseInt(last || '0', 16) + 1).toString(16);
  return [...parts.slice(0, -1), next].join(separator);
}
