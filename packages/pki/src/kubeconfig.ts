/** A kubeconfig of one cluster, one user and one context. JSON is YAML, but people read these: so block style. */

import type { KeyPair } from './certificates.ts';

export interface KubeconfigOptions {
  /** Name of the cluster and the context. */
  readonly name: string;
  readonly user: string;
  /** `https://host:port`, with a path for a tenant. */
  readonly server: string;
  /** The name that the certificate of the server must have. Absent: the host of `server`. */
  readonly tlsServerName?: string | undefined;
  /** PEM. */
  readonly authority: string;
  /** `tokenFile`: a path, relative to the kubeconfig. Clients read it again when it changes. */
  readonly credentials: KeyPair | { readonly token: string } | { readonly tokenFile: string };
}

export function kubeconfig(options: KubeconfigOptions): string {
  const { name, user, server, tlsServerName, authority, credentials } = options;
  return [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    `- name: ${quoted(name)}`,
    '  cluster:',
    `    server: ${server}`,
    ...(tlsServerName === undefined ? [] : [`    tls-server-name: ${quoted(tlsServerName)}`]),
    `    certificate-authority-data: ${base64(authority)}`,
    'users:',
    `- name: ${quoted(user)}`,
    '  user:',
    ...credentialLines(credentials).map((line) => `    ${line}`),
    'contexts:',
    `- name: ${quoted(name)}`,
    '  context:',
    `    cluster: ${quoted(name)}`,
    `    user: ${quoted(user)}`,
    `current-context: ${quoted(name)}`,
    '',
  ].join('\n');
}

function credentialLines(credentials: KubeconfigOptions['credentials']): string[] {
  if ('token' in credentials) return [`token: ${quoted(credentials.token)}`];
  if ('tokenFile' in credentials) return [`tokenFile: ${quoted(credentials.tokenFile)}`];
  const { certificate, key } = credentials;
  return [`client-certificate-data: ${base64(certificate)}`, `client-key-data: ${base64(key)}`];
}

const base64 = (pem: string): string => Buffer.from(pem).toString('base64');
/** As it is where YAML cannot take it for anything else. */
const quoted = (text: string): string => (/^[a-z][a-z0-9-]*$/.test(text) ? text : JSON.stringify(text));
