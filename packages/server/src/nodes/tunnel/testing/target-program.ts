/**
 * A program for tests that listens on the address of its first argument: a port that returns what it receives, and a port that sends as
 * many bytes as the first line that it receives says. Prints both ports.
 */

import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

const host = process.argv[2]!;
const piece = Buffer.alloc(64 * 1024, 'hangar');

function sendBytes(socket: Socket): void {
  socket.once('data', (line: Buffer) => {
    let left = Number(line.toString());
    const more = (): void => {
      while (left > 0) {
        const length = Math.min(left, piece.length);
        left -= length;
        if (!socket.write(piece.subarray(0, length))) {
          socket.once('drain', more);
          return;
        }
      }
      socket.end();
    };
    more();
  });
}

const listening = (serve: (socket: Socket) => void): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      serve(socket);
    });
    server.listen(0, host, () => resolve((server.address() as AddressInfo).port));
  });

const echo = await listening((socket) => socket.pipe(socket));
const source = await listening(sendBytes);
console.log(`echo=${echo} source=${source}`);
