/**
 * The kubeconfig that a program gets: made anew of what was understood of the cluster's own, and of nothing else. So what was refused
 * or not looked at (programs to be run, files to be read, other contexts) cannot come back by another reader's understanding.
 */

import type { ClusterConfig, Impersonation } from '@hangar/client';

/** Only for configurations without files and programs (`configOfKubeconfig`): their credentials stay as they are. Deterministic. */
export async function kubeconfigOf(config: ClusterConfig): Promise<string> {
  const name = 'cluster';
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: clusterPart(config) }],
    users: [{ name, user: await userPart(config) }],
    contexts: [{ name, context: { cluster: name, user: name, ...optional('namespace', config.namespace) } }],
    'current-context': name,
  });
}

const clusterPart = ({ server, ca, serverName, isInsecure, proxyUrl, disableCompression }: ClusterConfig): object => ({
  server,
  ...optional('certificate-authority-data', ca === undefined ? undefined : base64(ca)),
  ...optional('tls-server-name', serverName),
  ...optional('insecure-skip-tls-verify', isInsecure || undefined),
  ...optional('proxy-url', proxyUrl),
  ...optional('disable-compression', disableCompression || undefined),
});

async function userPart({ credentials, impersonate }: ClusterConfig): Promise<object> {
  const pair = await credentials?.clientCertificate?.();
  return {
    ...(pair && {
      'client-certificate-data': base64(pair.certificate),
      'client-key-data': base64(pair.key),
    }),
    ...authorizationPart((await credentials?.headers())?.['authorization']),
    ...(impersonate && impersonationPart(impersonate)),
  };
}

function authorizationPart(header: string | undefined): object {
  const [, scheme, value = ''] = /^(Bearer|Basic) (.*)$/s.exec(header ?? '') ?? [];
  if (scheme === undefined) return {};
  if (scheme === 'Bearer') return { token: value };
  const login = Buffer.from(value, 'base64').toString();
  const at = login.indexOf(':');
  return { username: login.slice(0, at), password: login.slice(at + 1) };
}

const impersonationPart = ({ user, uid, groups, extra }: Impersonation): object => ({
  as: user,
  ...optional('as-uid', uid),
  ...optional('as-groups', groups),
  ...optional('as-user-extra', extra),
});

const optional = (name: string, value: unknown): object => (value === undefined ? {} : { [name]: value });
const base64 = (text: string): string => Buffer.from(text).toString('base64');
