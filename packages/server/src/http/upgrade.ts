/**
 * Connections that a client wants to upgrade: WebSocket, SPDY. Other protocols, such as h2c, are ignored, and the request is answered in
 * HTTP.
 */

import type { Clock } from '@hangar/core';
import type { IncomingMessage, ServerResponse as Response } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { answerHttp1 } from './http1.ts';
import { isStreaming, nobody } from './message.ts';
import type { Answer, ServerRequest, Sink, Upgrade } from './message.ts';

/** Uses the lazy getter: see the listener. */
const { ServerResponse } = process.getBuiltinModule('node:http');

const protocols = /^(?:websocket|spdy\/3\.1)$/i;

export const isUpgrade = ({ headers }: IncomingMessage): boolean => protocols.test(headers.upgrade ?? '');

/** A refusal is an ordinary response, the last one of this connection. */
export function answerUpgrade(
  incoming: IncomingMessage,
  { socket }: Upgrade,
  answer: Answer,
  request: ServerRequest,
  clock: Clock,
): void {
  if (answer.isTaken) {
    if (isStreaming(answer.body)) answer.body.start(new TakenSink(socket));
    return;
  }
  if (socket.destroyed) {
    if (isStreaming(answer.body)) answer.body.start(nobody);
    return;
  }
  const response: Response = new ServerResponse(incoming);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  // The server no longer handles events of a socket after an upgrade.
  socket.on('drain', () => response.emit('drain'));
  response.once('finish', () => {
    response.detachSocket(socket as Socket);
    socket.end();
    // A server emits this for its own responses. It ends the sink of a stream.
    response.emit('close');
  });
  answerHttp1(response, answer, request, clock);
}

/** A connection that a handler took over. The handler writes to the connection itself. */
class TakenSink implements Sink {
  readonly #socket: Duplex;

  constructor(socket: Duplex) {
    this.#socket = socket;
  }

  write(): boolean {
    return true;
  }

  /** Closes the connection at once: only the handler can write a last message of the other protocol. */
  end(): void {
    this.#socket.destroy();
  }

  abort(): void {
    this.#socket.destroy();
  }

  onDrain(): void {}

  onClose(callback: () => void): void {
    if (this.#socket.destroyed) callback();
    else this.#socket.once('close', callback);
  }
}
