/** Responses to connections that have no route. */

import type { Socket } from 'node:net';
import type { Clock } from '@hangar/core';
import type { NotTlsReason } from './client-hello.ts';

const alertOf = (description: number): Buffer => Buffer.from([21, 3, 3, 0, 2, 2, description]);

/** TLS alerts with level fatal. */
const unrecognizedName = alertOf(112);
const decodeError = alertOf(50);

/** The response of kube-apiserver to a request without TLS. */
export const httpRefusal = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n';

export type HandshakeFailure =
  | 'unknown-server-name'
  | 'no-server-name'
  | 'http-request'
  | 'not-tls'
  | 'invalid-proxy-header'
  | 'timeout'
  | 'handshake-limit'
  | 'client-closed';

/** Returns the bytes that explain a failure to the client. Undefined: the connection is reset. */
export function refusalOf(failure: HandshakeFailure, reason?: NotTlsReason): Buffer | string | undefined {
  if (failure === 'unknown-server-name' || failure === 'no-server-name') return unrecognizedName;
  if (failure === 'http-request') return httpRefusal;
  return reason === 'malformed' || reason === 'too-long' ? decodeError : undefined;
}

/** A client that does not close its end within this time is reset. */
const lingerMs = 1_000;
const lingerBytesMax = 64 * 1024;

/** Sends the bytes and closes, within a second. Unread bytes would reset the connection before the client reads the response, so they are read. */
export function refuse(socket: Socket, bytes: Buffer | string | undefined, clock: Pick<Clock, 'after'>): void {
  if (bytes === undefined) return void socket.resetAndDestroy();
  const before = socket.bytesRead;
  const timer = clock.after(lingerMs, () => socket.resetAndDestroy());
  socket.once('close', () => timer.cancel());
  socket.on('data', () => {
    if (socket.bytesRead - before > lingerBytesMax) socket.resetAndDestroy();
  });
  socket.once('end', () => socket.destroy());
  socket.end(bytes);
  socket.resume();
}
