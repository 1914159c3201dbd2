/** `pods/log` over WebSocket: each piece of the log is a message. */

import { textAnswer } from '../aggregation/proxy.ts';
import type { Answer, Upgrade } from '../http/message.ts';
import type { Call } from '../verbs/call.ts';
import type { BackendAnswer } from './backend-exchange.ts';
import { WebSocketConnection } from './websocket/connection.ts';
import { offeredProtocols, switchingHead } from './websocket/handshake.ts';

const binary = 'binary.k8s.io';
const base64 = 'base64.binary.k8s.io';

export function logOverWebSocket({ request, plane }: Call, upgrade: Upgrade, { response, end }: BackendAnswer): Answer {
  const offered = offeredProtocols(request);
  const protocol = offered.length === 0 ? '' : offered.find((one) => one === binary || one === base64);
  let head: Buffer;
  try {
    if (protocol === undefined) throw new Error(`requested protocol(s) are not supported: [${offered.join(' ')}]`);
    head = switchingHead(request, protocol);
  } catch (error) {
    end();
    response.destroy();
    return textAnswer(403, (error as Error).message);
  }
  const start = (): void => {
    const client = new WebSocketConnection(upgrade, plane.clock);
    client.writeHead(head);
    const send = (bytes: Buffer): boolean =>
      protocol === base64 ? client.sendText(bytes.toString('base64')) : client.send(bytes);
    // As in kube-apiserver, an empty message shows that the connection is established.
    send(Buffer.alloc(0));
    response.on('data', (bytes: Buffer) => {
      if (!send(bytes)) response.pause();
    });
    client.onDrain(() => response.resume());
    response.once('close', () => client.close());
    client.read(
      () => {},
      () => response.destroy(),
    );
  };
  return {
    status: 101,
    headers: {},
    isTaken: true,
    body: {
      start(sink) {
        sink.onClose(end);
        start();
      },
    },
  };
}
