/** Posts JSON to the server that a kubeconfig of the administrator names, with its credentials. */

import type { ClusterAccess } from './cluster-access.ts';
import type { Outbound, OutboundAnswer } from './outbound.ts';

export interface ClusterPostOptions {
  readonly timeoutMs: number;
  readonly bytesMax?: number;
  readonly signal?: AbortSignal;
}

/** The server responded, but not with success. */
export class UnsuccessfulPost extends Error {
  readonly status: number;

  constructor(server: string, status: number) {
    super(`${server} answered with status ${status}`);
    this.status = status;
  }
}

/** Rejects with UnsuccessfulPost if the server does not accept it. */
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
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, */*',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body,
    ca: access.ca,
    serverName: access.serverName,
    isInsecure: access.isInsecure,
    clientCertificate: access.clientCertificate,
    // The administrator wrote the kubeconfig.
    isTrusted: true,
    ...options,
  });
  // Same success range as in client-go: no other 2xx response has a body to read.
  if (answer.status < 200 || answer.status > 206) throw new UnsuccessfulPost(access.server, answer.status);
  return answer;
}
