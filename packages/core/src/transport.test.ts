/** The system's transport on the loopback interface. */

import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { connect as tcpConnect } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, test } from 'node:test';
import { systemTransport } from './transport.ts';
import type { Address, Listener } from './transport.ts';

const loopback = { host: '127.0.0.1', port: 0 };

/** An echo listener for `work`. */
async function withEcho(
  work: (address: Address, accepted: Duplex[], listener: Listener) => Promise<void>,
): Promise<void> {
  const accepted: Duplex[] = [];
  const listener = await systemTransport.listen(loopback, (connection) => {
    accepted.push(connection);
    connection.on('error', () => {});
    connection.pipe(connection);
  });
  try {
    await work(listener.address, accepted, listener);
  } finally {
    await listener.close();
  }
}

async function readAll(connection: Duplex): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of connection) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** A port that was free a moment ago. */
async function closedPort(): Promise<Address> {
  const listener = await systemTransport.listen(loopback, () => {});
  await listener.close();
  return listener.address;
}

describe('the system transport', () => {
  test('carries bytes both ways, and the end of them', () =>
    withEcho(async (address) => {
      assert.ok(address.port > 0);
      const connection = await systemTransport.connect(address);
      connection.write('hello ');
      connection.end('world');
      assert.equal(await readAll(connection), 'hello world');
    }));

  test('serves several connections at once', () =>
    withEcho(async (address) => {
      const echoed = Array.from({ length: 10 }, async (_, at) => {
        const connection = await systemTransport.connect(address);
        connection.end(`number ${at}`);
        return readAll(connection);
      });
      assert.deepEqual(
        await Promise.all(echoed),
        Array.from({ length: 10 }, (_, at) => `number ${at}`),
      );
    }));

  test('a port that nobody listens on refuses', async () => {
    await assert.rejects(systemTransport.connect(await closedPort()), { code: 'ECONNREFUSED' });
  });

  test('a port that is taken cannot be listened on', () =>
    withEcho(async (address) => {
      await assert.rejects(
        systemTransport.listen(address, () => {}),
        { code: 'EADDRINUSE' },
      );
    }));

  test('an abort ends a connection attempt, before it began or under way', () =>
    withEcho(async (address) => {
      const reason = new Error('enough');
      const before = systemTransport.connect(address, AbortSignal.abort(reason));
      await assert.rejects(before, { code: 'Aborted', cause: reason });
      const controller = new AbortController();
      const underWay = systemTransport.connect(address, controller.signal);
      controller.abort(reason);
      await assert.rejects(underWay, { code: 'Aborted', cause: reason });
    }));

  test('an abort after the connection stands does not end it', () =>
    withEcho(async (address) => {
      const controller = new AbortController();
      const connection = await systemTransport.connect(address, controller.signal);
      controller.abort();
      connection.end('still here');
      assert.equal(await readAll(connection), 'still here');
    }));

  test('an attempt leaves no listener on its signal, whether it succeeded or failed', () =>
    withEcho(async (address) => {
      const { signal } = new AbortController();
      (await systemTransport.connect(address, signal)).destroy();
      assert.equal(getEventListeners(signal, 'abort').length, 0, 'after success');
      await assert.rejects(systemTransport.connect(await closedPort(), signal));
      assert.equal(getEventListeners(signal, 'abort').length, 0, 'after failure');
    }));

  test('closing the listener destroys the connections it accepted and refuses new ones, twice as well as once', () =>
    withEcho(async (address, accepted, listener) => {
      const connection = await systemTransport.connect(address);
      connection.on('error', () => {});
      connection.write('x');
      await once(connection, 'data');
      assert.equal(accepted.length, 1);
      const closed = once(connection, 'close');
      await listener.close();
      await closed;
      assert.ok(accepted[0]!.destroyed);
      await assert.rejects(systemTransport.connect(address), { code: 'ECONNREFUSED' });
      await listener.close();
    }));

  test('small writes are not held back', () =>
    withEcho(async (address) => {
      const connection = await systemTransport.connect(address);
      for (let at = 0; at < 50; at++) {
        connection.write('ping');
        await once(connection, 'data');
      }
      connection.destroy();
    }));

  test('a plain TCP client is a connection like any other', () =>
    withEcho(async (address) => {
      const socket = tcpConnect(address);
      socket.end('plain');
      assert.equal(await readAll(socket), 'plain');
    }));
});
