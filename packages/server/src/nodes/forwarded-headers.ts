/**
 * Headers of requests to kubelets, pods and services. The client's credentials are not sent: only headers without credentials are on the
 * list of aggregation, and a kubelet authenticates this server by its certificate. The identity of the user is not sent either.
 */

import type { OutgoingHttpHeaders } from 'node:http';
import { plainHeaders } from '../aggregation/headers.ts';
import type { ServerRequest } from '../http/message.ts';

export function backendHeaders(request: ServerRequest): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = plainHeaders(request);
  // The backend sends HTML uncompressed, so that its links can be rewritten.
  delete headers['accept-encoding'];
  headers['x-forwarded-for'] = [...request.headerValues('x-forwarded-for'), request.peer.address].join(', ');
  return headers;
}

/** Headers that switch the protocol. */
export const upgradingHeaders = (request: ServerRequest): OutgoingHttpHeaders => ({
  ...backendHeaders(request),
  connection: 'Upgrade',
  upgrade: request.header('upgrade')!,
});

/** Headers that switch to SPDY, of a client that uses WebSocket. */
export function spdyHeaders(request: ServerRequest, versions: readonly string[]): OutgoingHttpHeaders {
  const plain = Object.entries(backendHeaders(request)).filter(([name]) => !name.startsWith('sec-websocket-'));
  return {
    ...Object.fromEntries(plain),
    connection: 'Upgrade',
    upgrade: 'SPDY/3.1',
    'x-stream-protocol-version': [...versions],
  };
}
