/** A kubeconfig for a tenant: a client certificate of its CA, and where its control plane is. */

import type { Clock, Random } from '@hangar/core';
import { rememberIssued } from './issued-certificates.ts';
import type { TenantKeys } from './keys.ts';
import { pki } from './pki.ts';

export interface IssueKubeconfigOptions {
  readonly keys: Pick<TenantKeys, 'authority'>;
  /** `https://<host>/clusters/<path>/control-plane`. */
  readonly server: string;
  /** Whose certificate the server shows; PEM. */
  readonly servingCa: string;
  /** Names cluster and context. */
  readonly path: string;
  /** Absent: `admin`. */
  readonly user?: string;
  /** Absent: those who may do everything in this tenant. */
  readonly groups?: readonly string[];
  /** How long it counts. */
  readonly seconds: number;
  readonly clock: Clock;
  readonly random: Random;
}

const daySeconds = 86_400;

export function issueKubeconfig({
  keys,
  server,
  servingCa,
  path,
  user = 'admin',
  groups = ['system:masters'],
  seconds,
  ...world
}: IssueKubeconfigOptions): string {
  const { issueCertificate, kubeconfig } = pki();
  const credentials = issueCertificate(
    keys.authority,
    { commonName: user, organizations: groups, usage: 'client', days: seconds / daySeconds },
    world,
  );
  rememberIssued(keys.authority, credentials.certificate);
  return kubeconfig({ name: path, user, server, authority: servingCa, credentials });
}
