/** Clients of the control planes in this process: without sockets, as a member of system:masters. */

import { RestClient } from '@hangar/client';
import type { Client, HttpTransport } from '@hangar/client';
import type { Inside } from '../compose/inside.ts';

export interface InsideClients {
  readonly transport: HttpTransport;
  /** Of the management plane. */
  readonly root: Client;
  /** `root`, or a tenant's path. */
  of(cluster: string): Client;
  close(): Promise<void>;
}

export const rootName = 'root';
const clientsMax = 256;

/** `name`: the user in the server's audit log. */
export function insideClients({ users, handler }: Pick<Inside, 'users' | 'handler'>, name: string): InsideClients {
  const transport = users.transport(name, handler);
  const userAgent = `hangar-${name}`;
  const root = new RestClient(shared('', transport), { userAgent });
  const tenants = new Map<string, Client>();
  return {
    transport,
    root,
    of(cluster) {
      if (cluster === rootName) return root;
      let client = tenants.get(cluster);
      tenants.delete(cluster);
      client ??= new RestClient(shared(`/clusters/${cluster}/control-plane`, transport), { userAgent });
      // Most recently used last. An evicted client is only a few objects: nothing has to be closed.
      tenants.set(cluster, client);
      if (tenants.size > clientsMax) tenants.delete(tenants.keys().next().value!);
      return client;
    },
    close: () => transport.close(),
  };
}

/** One transport for all, closed with the process. */
const shared = (prefix: string, transport: HttpTransport): HttpTransport => ({
  host: transport.host ?? 'in-process',
  request: (request) => transport.request({ ...request, target: prefix + request.target }),
  close: () => Promise.resolve(),
});
