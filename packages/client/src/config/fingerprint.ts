/** Compares configurations, to detect that the access to a cluster changed. */

import type { ClusterConfig, Credentials } from './cluster-config.ts';
import { digest } from './credentials-material.ts';

/**
 * Returns the same text for the same server, authority and credentials. Credentials that renew themselves are identified by their source:
 * a new token in the same file does not change the fingerprint. The fingerprint is derived from secrets: compare it, but do not publish
 * it.
 */
export function fingerprintOf(config: ClusterConfig): string {
  const { server, ca, serverName, isInsecure, proxyUrl, disableCompression, impersonate, credentials } = config;
  return digest(
    JSON.stringify([
      server,
      ca ?? '',
      serverName ?? '',
      isInsecure ?? false,
      proxyUrl ?? '',
      disableCompression ?? false,
      impersonate === undefined ? '' : impersonationText(impersonate),
      config.namespace ?? '',
    ]),
    credentials === undefined ? '' : (credentials.fingerprint ?? identityOf(credentials)),
  );
}

const impersonationText = ({ user, uid, groups, extra = {} }: NonNullable<ClusterConfig['impersonate']>): string =>
  JSON.stringify([
    user,
    uid ?? '',
    groups ?? [],
    Object.entries(extra).sort(([one], [other]) => (one < other ? -1 : 1)),
  ]);

/** Custom credentials without a fingerprint: each object has its own identity. */
const identities = new WeakMap<Credentials, string>();
let nextIdentity = 1;

function identityOf(credentials: Credentials): string {
  let identity = identities.get(credentials);
  if (identity === undefined) identities.set(credentials, (identity = `object ${nextIdentity++}`));
  return identity;
}
