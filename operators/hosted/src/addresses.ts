/** Addresses of control planes. */

import { isIP } from 'node:net';

/** Reports whether a host is an address that endpoints can have. Kubernetes rejects loopback addresses there. */
export const isPublicAddress = (host: string): boolean =>
  isIP(host) !== 0 && !host.startsWith('127.') && host !== '::1';
