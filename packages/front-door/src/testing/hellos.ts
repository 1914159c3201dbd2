/** ClientHellos of the TLS implementation of Node. */

import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';

/** Resolves with the first bytes that a client with these options sends. */
export async function helloOf(options: ConnectionOptions): Promise<Buffer> {
  await using opened = new AsyncDisposableStack();
  const server = createServer();
  opened.defer(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options });
  client.on('error', () => undefined);
  opened.defer(() => void client.destroy());
  const [socket] = (await once(server, 'connection')) as [Socket];
  opened.defer(() => void socket.destroy());
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  return bytes;
}

/** Returns the records of a connection with the same content, but with at most `size` bytes each. */
export function refragmented(bytes: Buffer, size: number): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readUInt16BE(at + 3);
    const content = bytes.subarray(at + 5, at + 5 + length);
    for (let from = 0; from < length; from += size) {
      const piece = content.subarray(from, from + size);
      pieces.push(Buffer.from([22, 3, 1, piece.length >> 8, piece.length & 255]), piece);
    }
    at += 5 + length;
  }
  return Buffer.concat(pieces);
}
