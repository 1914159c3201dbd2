/** Handshake of WebSocket, for connections that this server itself answers. */

import { createHash } from 'node:crypto';
import { badRequest } from '@hangar/api';
import type { ServerRequest } from '../../http/message.ts';

export const isWebSocket = (request: ServerRequest): boolean =>
  request.header('upgrade')?.toLowerCase() === 'websocket';

/** Returns the subprotocols that the client offers, in order. */
export const offeredProtocols = (request: ServerRequest): string[] =>
  request
    .headerValues('sec-websocket-protocol')
    .flatMap((value) => value.split(','))
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '');

const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Returns the head of the response that switches to WebSocket. Throws 400 if the request is not a valid handshake. */
export function switchingHead(request: ServerRequest, protocol: string): Buffer {
  const key = request.header('sec-websocket-key') ?? '';
  if (request.method !== 'GET') throw badRequest('the method of a WebSocket request must be GET');
  if (request.header('sec-websocket-version') !== '13') throw badRequest('missing or bad WebSocket Version');
  if (Buffer.from(key, 'base64').length !== 16) throw badRequest('missing or bad Sec-WebSocket-Key');
  const accept = createHash('sha1').update(key).update(guid).digest('base64');
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${accept}`,
    ...(protocol === '' ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
