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
  const isAddress = host === undefined || isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0;
  return byHost || !isAddress ? 'misdirected' : byServerName;
}

export function tenantOfHost(request: ServerRequest, tenants: Tenants): Tenant | undefined {
  const found = tenantHost(request, tenants);
  return found === 'misdirected' ? undefined : found;
}
