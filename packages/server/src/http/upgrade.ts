/**
 * Connections that a client wants to use for another protocol: WebSocket, SPDY. Only these leave HTTP; whoever offers
 * anything else, such as h2c, is answered in HTTP as if it had not.
 */

import type { Clock } from '@hangar/core';
import type { IncomingMessage, ServerResponse as Response } from 'node:http';
import type { Socket } from 'node:net';
import { answerHttp1 } from './http1.ts';
import { isStreaming, nobody } from './message.ts';
import type { Answer, ServerRequest, Upgrade } from './message.ts';

/** By its lazy getter: see the listener. */
const { ServerResponse } = process.getBuiltinModule('node:http');

const protocols = /^(?:websocket|spdy\/3\.1)$/i;

export const isUpgrade = ({ headers }: IncomingMessage): boolean => protocols.test(headers.upgrade ?? '');

/** A refusal is written as an ordinary answer, the last one of this connection. */
export function answerUpgrade(
  incoming: IncomingMessage,
  { socket }: Upgrade,
  answer: Answer,
  request: ServerRequest,
  clock: Clock,
): void {
  if (answer.isTaken) return;
  if (socket.destroyed) {
    if (isStreaming(answer.body)) answer.body.start(nobody);
    return;
  }
  const response: Response = new ServerResponse(incoming);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  // The server no longer sees to a socket that it gave away.
  socket.on('drain', () => response.emit('drain'));
  response.once('finish', () => {
    response.detachSocket(socket as Socket);
    socket.end();
  });
  answerHttp1(response, answer, request, clock);
}
