/** Finds the tenant of a request by host name: the TLS server name and the Host header. */

import { isIP } from 'node:net';
import type { ServerRequest } from '../http/message.ts';
import { hostName } from './route.ts';
import type { Tenant } from './tenant.ts';
import type { Tenants } from './tenants.ts';

/**
 * Returns undefined if the host names select no tenant. The TLS server name decides. If the Host header is a different name, the connection
 * was opened for another host, and the request is misdirected. An IP address in the Host header is ignored: clients that set only a TLS
 * name (`tls-server-name` in a kubeconfig) send it.
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
 * Reports whether every name in the request, in TLS and in the Host header, is an IP address or one of `ownHosts` (lower case). No tenant
 * can have such a name, so an answer that depends on this does not reveal which names tenants have.
 */
export function isForOwnHost(request: ServerRequest, ownHosts: ReadonlySet<string>): boolean {
  return [hostName(request.header('host')), request.peer.serverName].every(
    (host) => host === undefined || isAddress(host) || ownHosts.has(host.toLowerCase()),
  );
}

const isAddress = (host: string): boolean => isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0;
