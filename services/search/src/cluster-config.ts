/** The configuration of a client with the access of an aggregated server. */

import type { ClusterConfig } from '@hangar/client';
import type { ClusterAccess } from '@hangar/server/library';

export function configOf(access: ClusterAccess): ClusterConfig {
  const { server, ca, serverName, isInsecure, clientCertificate, token } = access;
  return {
    server,
    ca,
    serverName,
    isInsecure,
    credentials: {
      async headers(): Promise<Record<string, string>> {
        return token ? { authorization: `Bearer ${await token()}` } : {};
      },
      ...(clientCertificate ? { clientCertificate: () => Promise.resolve(clientCertificate) } : {}),
    },
  };
}
