/** Client certificate by which kubelets of a control plane authenticate its server, as kubeadm creates it. Kept in memory only. */

import type { Clock, Random } from '@hangar/core';
import type { NodeCredentials } from '../../nodes/node-connections.ts';
import type { TenantKeys } from './keys.ts';
import { pki } from './pki.ts';

export interface KubeletCredentialsOptions {
  /** `authority` can change: it is read for each certificate. */
  readonly keys: Pick<TenantKeys, 'authority'>;
  readonly clock: Clock;
  readonly random: Random;
}

const days = 1;
const renewBeforeMs = 8 * 3_600_000;

/** The certificate is issued at first use and reissued before it expires: most tenants have no nodes. */
export function kubeletCredentials({ keys, ...world }: KubeletCredentialsOptions): () => NodeCredentials {
  let credentials: NodeCredentials | undefined;
  let renewAt = 0;
  return () => {
    if (credentials && world.clock.now() < renewAt) return credentials;
    const { expiresAt, issueCertificate } = pki();
    const clientCertificate = issueCertificate(
      keys.authority,
      { commonName: 'kube-apiserver-kubelet-client', organizations: ['system:masters'], usage: 'client', days },
      world,
    );
    renewAt = expiresAt(clientCertificate.certificate) - renewBeforeMs;
    credentials = { ca: keys.authority.certificate, clientCertificate };
    return credentials;
  };
}
