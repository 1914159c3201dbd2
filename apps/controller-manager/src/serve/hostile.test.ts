/** Hostile clients on raw connections. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as plainConnect } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { Logger, systemClock, systemRandom } from '@hangar/core';
import { servingCertificates } from './certificates/serving.ts';
import { Health } from './health.ts';
import { Scraper } from './metrics/scraper.ts';
import { Routes } from './routes.ts';
import { HttpsServer } from './server.ts';
import type { HttpsServerOptions } from './server.ts';
import { ask } from './testing/serving.ts';

const log = new Logger({ level: 'silent', format: 'text', clock: systemClock });
const rows = (): [] => [];

async function listening(limits: HttpsServerOptions['limits'] = {}) {
  const scraper = new Scraper({
    rows,
    ownMetrics: () => '',
    scrape: () => Promise.reject(new Error('nobody')),
    clock: systemClock,
    log,
  });
  const health = new Health({ rows, isSynced: () => true, hasJoined: () => true });
  const routes = new Routes({ rows, health, scraper, admits: async () => true, clock: systemClock });
  const world = { clock: systemClock, random: systemRandom };
  const certificates = servingCertificates({}, '127.0.0.1', world);
  const server = new HttpsServer({ certificates, routes, clock: systemClock, log, limits });
  const { port } = await server.listen('127.0.0.1', 0);
  return {
    port,
    isWell: async (): Promise<boolean> => (await ask(port, '/healthz')).status === 200,
    async open(): Promise<TLSSocket> {
      const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
      await once(socket, 'secureConnect');
      return socket;
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** Everything until the server ends it. */
async function rest(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.on('error', () => {});
  if (!socket.closed) await once(socket, 'close');
  return text;
}

const hurried = { headersTimeout: 600, requestTimeout: 700, connectionsCheckingInterval: 20 };

test('a head that does not come in time is not waited for', async () => {
  await using server = await listening(hurried);
  const socket = await server.open();
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ');
  assert.match(await rest(socket), /^HTTP\/1\.1 408 /);
  assert.ok(await server.isWell());
});

test('nor is a handshake, nor a connection that says nothing', async () => {
  await using server = await listening({ ...hurried, handshakeTimeout: 600, timeout: 700 });
  assert.equal(await rest(plainConnect(server.port, '127.0.0.1')), '');
  const silent = await server.open();
  await rest(silent);
  assert.ok(await server.isWell());
});

test('one that has not even begun with TLS does not delay the end', async () => {
  const server = await listening();
  const socket = plainConnect(server.port, '127.0.0.1');
  const gone = rest(socket);
  await once(socket, 'connect');
  const startedMs = performance.now();
  await server[Symbol.asyncDispose]();
  assert.ok(performance.now() - startedMs < 5_000, `${performance.now() - startedMs} ms`);
  assert.equal(await gone, '');
});

test('what is no TLS, no HTTP or too much of it is refused', async () => {
  await using server = await listening();
  const plain = plainConnect(server.port, '127.0.0.1');
  plain.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.doesNotMatch(await rest(plain), /200/);
  for (const [sent, answer] of [
    ['\u0000\u0001\u0002 nonsense\r\n\r\n', /^HTTP\/1\.1 400 /],
    [`GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
    [`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, /^HTTP\/1\.1 431 /],
    ['GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['GET /healthz HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n', /^$/],
  ] as const) {
    const socket = await server.open();
    socket.write(sent);
    assert.match(await rest(socket), answer, JSON.stringify(sent.slice(0, 40)));
  }
  assert.ok(await server.isWell());
});

test('a body that nobody asked for ends the connection', async () => {
  await using server = await listening();
  const socket = await server.open();
  socket.write('POST /clusters HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\nand so on');
  assert.match(await rest(socket), /^HTTP\/1\.1 405 [^]*connection: close/i);
});

test('requests one after the other on one connection are answered in order', async () => {
  await using server = await listening();
  const socket = await server.open();
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const statuses = Array.from((await rest(socket)).matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => status);
  assert.deepEqual(statuses, ['200', '404']);
});

test('connections are bounded', async () => {
  await using server = await listening({ connectionsMax: 2 });
  const [one, two] = [await server.open(), await server.open()];
  await assert.rejects(server.isWell());
  one.destroy();
  await once(one, 'close');
  for (let i = 0; !(await server.isWell().catch(() => false)); i++) assert.ok(i < 100, 'there is no room again');
  two.destroy();
});

test('clients that go away while they are answered harm nobody', async () => {
  await using server = await listening();
  for (let i = 0; i < 50; i++) {
    const socket = await server.open();
    socket.on('error', () => {});
    socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
    socket.destroy();
  }
  assert.ok(await server.isWell());
});
