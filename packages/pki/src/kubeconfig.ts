/** A kubeconfig of one cluster, one user and one context. JSON is YAML, but people read these: so block style. */

import type { KeyPair } from './certificates.ts';

export interface KubeconfigOptions {
  /** Name of the cluster and the context. */
  readonly name: string;
  readonly user: string;
  /** `https://host:port`, with a path for a tenant. */
  readonly server: string;
  /** PEM. */
  readonly authority: string;
  readonly credentials: KeyPair | { readonly token: string };
}

export function kubeconfig({ name, user, server, authority, credentials }: KubeconfigOptions): string {
  const given =
    'token' in credentials
      ? [`    token: ${quoted(credentials.token)}`]
      : [
          `    client-certificate-data: ${base64(credentials.certificate)}`,
          `    client-key-data: ${base64(credentials.key)}`,
        ];
  return [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    `- name: ${quoted(name)}`,
    '  cluster:',
    `    server: ${server}`,
    `    certificate-authority-data: ${base64(authority)}`,
    'users:',
    `- name: ${quoted(user)}`,
    '  user:',
    ...given,
    'contexts:',
    `- name: ${quoted(name)}`,
    '  context:',
    `    cluster: ${quoted(name)}`,
    `    user: ${quoted(user)}`,
    `current-context: ${quoted(name)}`,
    '',
  ].join('\n');
}

const base64 = (pem: string): string => Buffer.from(pem).toString('base64');
/** As it is where YAML cannot take it for anything else. */
const quoted = (text: string): string => (/^[a-z][a-z0-9-]*$/.test(text) ? text : JSON.stringify(text));
