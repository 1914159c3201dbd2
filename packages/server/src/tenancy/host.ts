/** Which tenant a request is for by its host name: what TLS was asked for, and what the request says. */

import { isIP } from 'node:net';
import type { ServerRequest } from '../http/message.ts';
import { hostName } from './route.ts';
import type { Tenant } from './tenant.ts';
import type { Tenants } from './tenants.ts';

/**
 * Undefined: for none by its name. TLS's name decides, and a request that says another one came over a connection that was made for somebody
 * else. An address says nothing: clients that are told a name for TLS alone
 * (`tls-server-name` of a kubeconfig) send it.
 */
export function tenantHost(request: ServerRequest, tenants: Tenants): Tenant | 'misdirected' | undefined {
  const host = hostName(request.header('host'));
  const byHost = host === undefined ? undefined : tenants.findByHost(host);
  const { serverName } = request.peer;
  if (serverName === undefined) return byHost;
  const byServerName = tenants.findByHost(serverName);
  if (byServerName === byHost) return byServerName;
  return byHost || (host !== undefined && !isAddress(host)) ? 'misdirected' : byServerName;
}

export function tenantOfHost(request: ServerRequest, tenants: Tenants): Tenant | undefined {
  const found = tenantHost(request, tenants);
  return found === 'misdirected' ? undefined : found;
}

/**
 * Returns whether every name that the request carries, in TLS and in its Host header, is an address or one of `ownHosts`, which are in lower
 * case. No tenant can have such a name, so an answer that depends on this does not reveal which names tenants have.
 */
export function isForOwnHost(request: ServerRequest, ownHosts: ReadonlySet<string>): boolean {
  return [hostName(request.header('host')), request.peer.serverName].every(
    (host) => host === undefined || isAddress(host) || ownHosts.has(host.toLowerCase()),
  );
}

const isAddress = (host: string): boolean => isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0;
