import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { createAuthority } from '@hangar/pki';
import { handshakeErrorCount } from './plain-http.ts';
import { TestPort, world } from './testing/test-port.ts';

const clients = createAuthority('clients', 1, world);
const openPort = () =>
  TestPort.open(async () => ({ status: 200, headers: {}, body: Buffer.from('ok') }), {
    clientCas: clients.certificate,
  });

/** Returns everything that the port sends to a client without TLS, until it closes the connection. */
async function answerTo(port: number, bytes: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise<void>((resolve) => {
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
  });
  return Buffer.concat(chunks).toString();
}

describe('plain HTTP on the TLS port', () => {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    test(`${method} is answered with the text of kube-apiserver`, async () => {
      await using port = await openPort();
      const answer = await answerTo(port.listener.port, `${method} /api HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      assert.equal(answer, 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n');
      assert.equal((await port.ask()).body, 'ok', 'clients with TLS are served');
    });
  }

  test('bytes that are neither TLS nor HTTP get a closed connection without that text', async () => {
    await using port = await openPort();
    const before = handshakeErrorCount();
    assert.ok(!(await answerTo(port.listener.port, Buffer.alloc(64, 0x7e))).includes('HTTP'));
    assert.equal(handshakeErrorCount(), before + 1);
  });
});
