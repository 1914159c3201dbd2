/**
 * Host names of a control plane: those of its outer addresses that have no path. The server must have them, because it selects the tenant
 * by the name alone.
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
 * Reports whether all control planes, and the management plane, are served under this name: a control plane that had it would receive all
 * requests. The host may have other names that are unknown here.
 */
export const isOfHost = (
  { internalUrl, externalUrl }: Pick<TenantHost, 'internalUrl' | 'externalUrl'>,
  host: string,
): boolean => [internalUrl, externalUrl].some((url) => url !== undefined && new URL(url).hostname === host);
