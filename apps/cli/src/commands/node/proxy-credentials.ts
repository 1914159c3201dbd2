/** Credentials of kube-proxy for a control plane. */

import type { Client } from '@hangar/client';
import { clusterPathOf } from '../../kinds.ts';
import type { ControlPlaneObject } from '../../kinds.ts';
import { readAccess } from '../../kubeconfig/access.ts';
import type { Access } from '../../kubeconfig/access.ts';
import { insistOnSuccess, tenantTarget } from '../common/tenant-request.ts';

/** Creates a client certificate for `system:kube-proxy`, which is valid for a year. */
export async function proxyCredentials(
  client: Client,
  plane: ControlPlaneObject,
  signal: AbortSignal,
): Promise<Access['user']> {
  const answer = await client.raw({
    method: 'POST',
    target: tenantTarget(clusterPathOf(plane), 'kubeconfig'),
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: Buffer.from(JSON.stringify({ spec: { user: 'system:kube-proxy', groups: [] } })),
    signal,
  });
  await insistOnSuccess(answer);
  const { status } = JSON.parse((await answer.body()).toString()) as { status: { kubeconfig: string } };
  return readAccess(status.kubeconfig, `the answer for control plane ${plane.metadata.name}`).user;
}
