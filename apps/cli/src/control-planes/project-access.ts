/** Access to the control plane of a project with a credential of the management plane. */

import type { ClusterConfig } from '@hangar/client';
import { failed } from '../errors.ts';
import type { Access } from '../kubeconfig/access.ts';

/** Returns the entry of a kubeconfig for the address of a project. Throws `Failed`. */
export async function projectCluster(config: ClusterConfig, project: string): Promise<Access['cluster']> {
  if (config.isInsecure) {
    throw failed('the kubeconfig of the management plane has insecure-skip-tls-verify: a project requires its CA');
  }
  const ca = (await config.renewedCa?.()) ?? config.ca;
  return {
    server: `${config.server}/projects/${project}/control-plane`,
    ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    ...(config.serverName === undefined ? {} : { 'tls-server-name': config.serverName }),
  };
}

/** Returns the current credential of the user as the entry of a kubeconfig. Throws `Failed` if it cannot be stored in one. */
export async function ownCredential({ credentials }: ClusterConfig, signal: AbortSignal): Promise<Access['user']> {
  const pair = await credentials?.clientCertificate?.(signal);
  if (pair) {
    return {
      'client-certificate-data': Buffer.from(pair.certificate).toString('base64'),
      'client-key-data': Buffer.from(pair.key).toString('base64'),
    };
  }
  const { authorization = '' } = (await credentials?.headers(signal)) ?? {};
  const [, token] = /^Bearer (.+)$/i.exec(authorization) ?? [];
  if (token !== undefined) return { token };
  throw failed('the kubeconfig of the management plane has no client certificate and no token');
}
