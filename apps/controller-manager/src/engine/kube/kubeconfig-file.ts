/**
 * Writes the kubeconfig of a program from the parsed kubeconfig of the cluster only. So refused or ignored parts (programs, files, other
 * contexts) cannot be interpreted by another parser.
 */

import type { ClusterConfig, Impersonation } from '@hangar/client';

/** Only for configurations without files and programs (`configOfKubeconfig`): their credentials do not change. Deterministic. */
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
