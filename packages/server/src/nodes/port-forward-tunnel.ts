/** `portforward` over WebSocket: the client's SPDY connection is in the messages of a WebSocket, and is passed to the kubelet as it is. */

import type { Duplex } from 'node:stream';
import { badRequest } from '@hangar/api';
import type { Answer, ServerRequest, Upgrade } from '../http/message.ts';
import type { Call } from '../verbs/call.ts';
import { authority } from './backend-exchange.ts';
import { spdyHeaders } from './forwarded-headers.ts';
import type { Backend } from './node-connections.ts';
import { askForUpgrade, refused } from './upgraded.ts';
import { WebSocketConnection } from './websocket/connection.ts';
import { offeredProtocols, switchingHead } from './websocket/handshake.ts';

const tunnelPrefix = 'SPDY/3.1+';

const isTunnelProtocol = (protocol: string): boolean =>
  protocol.startsWith(tunnelPrefix) && protocol.endsWith('.k8s.io');

export const offersTunnel = (request: ServerRequest): boolean => offeredProtocols(request).some(isTunnelProtocol);

export async function tunneled(call: Call, kubelet: Backend, target: string, upgrade: Upgrade): Promise<Answer> {
  const { request } = call;
  switchingHead(request, '');
  const protocols = offeredProtocols(request).filter(isTunnelProtocol);
  const versions = protocols.map((protocol) => protocol.slice(tunnelPrefix.length));
  const headers = { ...spdyHeaders(request, versions), host: authority(kubelet) };
  const answered = await askForUpgrade(call, kubelet, { method: 'POST', target, headers });
  const { response, upgraded, end } = answered;
  if (!upgraded) return refused(answered);
  const chosen = String(response.headers['x-stream-protocol-version'] ?? '').trim();
  const protocol = protocols.find((one) => one === `${tunnelPrefix}${chosen}`) ?? '';
  if (!/spdy\/3\.1/i.test(response.headers.upgrade ?? '')) {
    upgraded.destroy();
    end();
    throw badRequest('unable to upgrade: missing upgrade headers in response');
  }
  return {
    status: 101,
    headers: {},
    isTaken: true,
    body: {
      start(sink) {
        sink.onClose(end);
        const client = new WebSocketConnection(upgrade, call.plane.clock);
        client.writeHead(switchingHead(request, protocol));
        tunnel(client, upgraded);
      },
    },
  };
}

function tunnel(client: WebSocketConnection, kubelet: Duplex): void {
  kubelet.on('error', () => kubelet.destroy());
  kubelet.on('data', (bytes: Buffer) => {
    if (!client.send(bytes)) kubelet.pause();
  });
  client.onDrain(() => kubelet.resume());
  kubelet.on('drain', () => client.resume());
  kubelet.once('end', () => kubelet.end());
  if (kubelet.destroyed) client.close();
  kubelet.once('close', () => client.close());
  client.read(
    (piece) => {
      if (piece.length > 0 && !kubelet.destroyed && !kubelet.write(piece)) client.pause();
    },
    () => kubelet.destroy(),
  );
}
