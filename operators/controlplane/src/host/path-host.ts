/**
 * A host whose tenants are entered by their paths, with the credentials of one of its masters: the embedded platform, where the
 * operator is in the same process, or a Hangar whose administrator the operator is. One transport serves all tenants.
 */

import { RestClient } from '@hangar/client';
import type { HttpTransport, RestOptions } from '@hangar/client';
import type { TenantHost } from './contract.ts';
import { tenantPath } from './tenant.ts';

export interface PathHostOptions extends RestOptions {
  /** To the host's own root, as one of its masters. Closed by who made it. */
  readonly transport: HttpTransport;
  /** As a function: for a server whose port is known only when it listens. */
  readonly internalUrl: string | (() => string);
  readonly externalUrl?: string | undefined;
  readonly servingCa: () => string | Promise<string>;
  readonly changes?: TenantHost['changes'];
}

export function pathHost(all: PathHostOptions): TenantHost {
  const { transport, internalUrl, externalUrl, servingCa, changes, ...options } = all;
  return {
    client: new RestClient(below('', transport), options),
    enter: (path) => Promise.resolve(new RestClient(below(tenantPath(path), transport), options)),
    get internalUrl() {
      return typeof internalUrl === 'string' ? internalUrl : internalUrl();
    },
    externalUrl,
    servingCa,
    ...(changes ? { changes } : {}),
  };
}

/** The same connection for all of them: closing one client must not end the others. */
const below = (prefix: string, transport: HttpTransport): HttpTransport => ({
  host: transport.host ?? '',
  request: (request) => transport.request({ ...request, target: prefix + request.target }),
  close: () => Promise.resolve(),
});
