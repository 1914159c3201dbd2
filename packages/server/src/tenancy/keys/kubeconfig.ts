/** Kubeconfig of a tenant: a client certificate of its CA, and the address of its control plane. */

import { rememberIssued } from './issued-certificates.ts';
import type { KeyWorld, TenantKeys } from './keys.ts';
import { pki } from './pki.ts';

export interface IssueKubeconfigOptions extends KeyWorld {
  readonly keys: Pick<TenantKeys, 'authority'>;
  /** `https://<host>/clusters/<path>/control-plane`. */
  readonly server: string;
  /** CA of the server's certificate; PEM. */
  readonly servingCa: string;
  /** Name of cluster and context. */
  readonly path: string;
  /** Absent: `admin`. */
  readonly user?: string;
  /** Absent: the group with all permissions in this tenant. */
  readonly groups?: readonly string[];
  /** Validity. */
  readonly seconds: number;
}

const daySeconds = 86_400;

export async function issueKubeconfig({
  keys,
  server,
  servingCa,
  path,
  user = 'admin',
  groups = ['system:masters'],
  seconds,
  ...world
}: IssueKubeconfigOptions): Promise<string> {
  const { issueCertificate, kubeconfig, pooled } = pki();
  const credentials = await (world.isPooled ? pooled.issueCertificate : issueCertificate)(
    keys.authority,
    { commonName: user, organizations: groups, usage: 'client', days: seconds / daySeconds },
    world,
  );
  rememberIssued(keys.authority, credentials.certificate);
  return kubeconfig({ name: path, user, server, authority: servingCa, credentials });
}
