/** The kubeconfig of the administrator: a short-lived client certificate, which is renewed. */

import type { Secret } from '@hangar/client/kinds/core-v1';
import { kubeconfig, pooled } from '@hangar/pki';
import type { World } from '@hangar/pki';
import { annotations } from '../api/index.ts';
import { lifetimeOf, renewsAtMs, requestDigest } from './certificates.ts';
import { base64, textIn } from './secrets.ts';
import type { Signer } from './signer.ts';

const lifetimeDays = 30;
const user = 'kubernetes-admin';

export interface KubeconfigRequest {
  /** Name of the cluster in the kubeconfig. */
  readonly name: string;
  readonly server: string;
  /** Absent: the host of `server`. */
  readonly tlsServerName?: string;
}

export const kubeconfigDigest = (request: KubeconfigRequest, authority: Signer): string =>
  requestDigest({ ...request, user, trusted: authority.trusted }, authority);

/** Returns the data of the Secret: the key that Cluster API reads. */
export async function adminKubeconfig(
  { name, server, tlsServerName }: KubeconfigRequest,
  authority: Signer,
  world: World,
): Promise<Record<string, string>> {
  const days = lifetimeOf(authority, lifetimeDays, world.clock.now());
  const request = { commonName: user, organizations: ['system:masters'], usage: 'client' as const, days };
  const credentials = await pooled.issueCertificate(authority, request, world);
  const address = { server, tlsServerName };
  const text = kubeconfig({ name, user: `${name}-admin`, ...address, authority: authority.trusted, credentials });
  return { value: base64(text) };
}

/** Returns the PEM of the client certificate, or an empty text. */
export function certificateIn(secret: Secret): string {
  const [, data = ''] = /client-certificate-data: (\S+)/.exec(textIn(secret, 'value')) ?? [];
  return Buffer.from(data, 'base64').toString();
}

/** Milliseconds since 1970. 0: the kubeconfig has no certificate. */
export const kubeconfigRenewsAtMs = (secret: Secret): number => renewsAtMs(certificateIn(secret));

export const isKubeconfigCurrent = (secret: Secret, digest: string, nowMs: number): boolean =>
  secret.metadata.annotations?.[annotations.request] === digest && kubeconfigRenewsAtMs(secret) > nowMs;
