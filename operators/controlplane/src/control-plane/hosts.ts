/**
 * Host names that stand for a control plane: those of its outer addresses that have no path. The server must know them: it tells the
 * tenant by the name alone.
 */

import { isIP } from 'node:net';
import type { ResolvedAddresses } from '../endpoint/resolve.ts';
import type { TenantHost } from '../host/index.ts';

export function hostsOf({ external, join }: ResolvedAddresses): string[] {
  const names = [external, join]
    .map((address) => new URL(address))
    .filter(({ pathname, hostname }) => pathname === '/' && isIP(hostname) === 0 && !hostname.startsWith('['))
    .map(({ hostname }) => hostname);
  return [...new Set(names)].sort();
}

/**
 * All control planes are reached by this name, and the management plane: who had it for one of them would have everybody's requests.
 * The host itself may not know under which names it is reached.
 */
export const isOfHost = (
  { internalUrl, externalUrl }: Pick<TenantHost, 'internalUrl' | 'externalUrl'>,
  host: string,
): boolean => [internalUrl, externalUrl].some((url) => url !== undefined && new URL(url).hostname === host);
