import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { connect, createServer } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import { DirectConnection, recordBytesMax } from './direct-connection.ts';

const world = { clock: systemClock, random: systemRandom };
const authority = createAuthority('authority', 1, world);
const { key, certificate: cert } = issueCertificate(
  authority,
  { commonName: 'server', hosts: ['127.0.0.1'], usage: 'server', days: 1 },
  world,
);

async function startServer(serve: (socket: TLSSocket) => void) {
  const server = createServer({ key, cert }, (socket) => serve(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    async open(holdsBody = false): Promise<DirectConnection> {
      const record = Buffer.alloc(recordBytesMax);
      const opened = await DirectConnection.open(
        async (onread) => {
          const options = { host: '127.0.0.1', port, ca: authority.certificate, onread };
          const socket = connect(options);
          await once(socket, 'secureConnect');
          return socket;
        },
        { record, holdsBody },
      );
      return opened!;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}

test('a receiver that throws closes only its connection', async () => {
  await using server = await startServer((socket) => void socket.once('data', () => socket.end('answer')));
  for (const method of ['data', 'end'] as const) {
    const connection = await server.open();
    const failing = (): never => {
      throw new Error('failed');
    };
    connection.receive({ data: () => {}, end: () => {}, [method]: failing });
    connection.socket.write('request');
    await once(connection, 'close');
  }
});

test('a receiver gets bytes that arrived before it, and the end', async () => {
  await using server = await startServer((socket) => void socket.end('first'));
  const connection = await server.open();
  await once(connection, 'readable');
  const received = await new Promise((resolve) => {
    let bytes = '';
    connection.receive({ data: (piece) => (bytes += piece.toString()), end: () => resolve(bytes) });
  });
  assert.equal(received, 'first');
  connection.destroy();
});

test('a stream without a receiver is complete, also with a body that was held', async () => {
  await using server = await startServer((socket) => void socket.end('head\r\n\r\nbody'));
  const plain = await server.open();
  assert.equal(await text(plain), 'head\r\n\r\nbody');
  const holding = await server.open(true);
  const [head] = (await once(holding, 'data')) as [Buffer];
  assert.deepEqual([head.toString(), holding.isBodyHeld], ['head\r\n\r\n', true]);
  holding.passBody();
  assert.equal(await text(holding), 'body');
});
