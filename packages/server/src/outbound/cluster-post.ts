/** Posts JSON to the server that a kubeconfig of the administrator names, with its credentials. */

import type { ClusterAccess } from '../library/cluster-access.ts';
import type { Outbound, OutboundAnswer } from './outbound.ts';

export interface ClusterPostOptions {
  readonly timeoutMs: number;
  readonly bytesMax?: number;
  readonly signal?: AbortSignal;
}

/** Rejects when the server does not take it. */
export async function postToCluster(
  outbound: Outbound,
  access: ClusterAccess,
  body: string,
  options: ClusterPostOptions,
): Promise<OutboundAnswer> {
  const token = await access.token?.();
  const answer = await outbound.request({
    url: access.server,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    body,
    ca: access.ca,
    serverName: access.serverName,
    isInsecure: access.isInsecure,
    clientCertificate: access.clientCertificate,
    isTrusted: true,
    ...options,
  });
  if (answer.status >= 300) throw new Error(`${access.server} answered ${answer.status}`);
  return answer;
}
