/** Clients of this process's own control planes: without sockets, as one of the masters. */

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

/** `name`: whom the server's audit log shows. */
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
      // The one that was used last is at the end. What is let go of is a few objects: nothing of it has to be closed.
      tenants.set(cluster, client);
      if (tenants.size > clientsMax) tenants.delete(tenants.keys().next().value!);
      return client;
    },
    close: () => transport.close(),
  };
}

/** One transport for all: it ends when everything does. */
const shared = (prefix: string, transport: HttpTransport): HttpTransport => ({
  host: transport.host ?? 'in-process',
  request: (request) => transport.request({ ...request, target: prefix + request.target }),
  close: () => Promise.resolve(),
});
