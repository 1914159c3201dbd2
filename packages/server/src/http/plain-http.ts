/**
 * Answers clients that speak plain HTTP on the TLS port with the message of kube-apiserver, instead of closing the connection without a
 * reason.
 *
 * OpenSSL recognizes such a client by its first bytes. By then the TLS socket is destroyed, and the response needs the TCP socket below it:
 * that one is kept here, by its addresses, for as long as the handshake lasts.
 */

import type { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';

const answer = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n';

let errorCount = 0;

/** Returns the number of failed TLS handshakes of all ports of the process. */
export const handshakeErrorCount = (): number => errorCount;

/** Handles every `tlsClientError` of the server: closes the connection for any error. */
export function refusePlainHttp(server: Server): void {
  const handshaking = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const key = keyOf(socket);
    handshaking.set(key, socket);
    socket.once('close', () => {
      if (handshaking.get(key) === socket) handshaking.delete(key);
    });
  });
  server.on('secureConnection', (socket: TLSSocket) => handshaking.delete(keyOf(socket)));
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    errorCount++;
    const key = keyOf(socket);
    const below = error.code === 'ERR_SSL_HTTP_REQUEST' ? handshaking.get(key) : undefined;
    handshaking.delete(key);
    socket.destroy();
    below?.end(answer, () => below.destroy());
  });
}

const keyOf = ({ remoteAddress, remotePort, localAddress }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress}`;
