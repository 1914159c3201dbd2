/** Whether two configurations are the same cluster in the same way: for whoever must notice a change. */

import type { ClusterConfig, Credentials } from './cluster-config.ts';
import { digest } from './credentials-material.ts';

/**
 * The same text for the same server, authority and credentials. Credentials that renew themselves are what they renew themselves
 * from: a new token in the same file is no change. It is made of secrets: compare it, do not publish it.
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

/** Credentials of the caller's own that do not say what they are: each object is its own. */
const identities = new WeakMap<Credentials, string>();
let nextIdentity = 1;

function identityOf(credentials: Credentials): string {
  let identity = identities.get(credentials);
  if (identity === undefined) identities.set(credentials, (identity = `object ${nextIdentity++}`));
  return identity;
}
