import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import { NameLookups, Outbound, TotalLookups } from '../outbound/index.ts';
import type { OutboundOptions } from '../outbound/index.ts';
import { DirectDialer } from './dialer.ts';

async function startServer() {
  const server = createServer((socket) => socket.on('error', () => {}).end('hello'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  let connections = 0;
  server.on('connection', () => connections++);
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}

function dialer(networks: readonly string[] | undefined, options: OutboundOptions = {}): DirectDialer {
  const lookups = new NameLookups({ plane: 'red', clock: systemClock, total: new TotalLookups() });
  const outbound = new Outbound(options).forTenant();
  return new DirectDialer({ plane: 'red', outbound, networks: () => networks, lookups });
}

const rejection = (code: string, message: RegExp) => (error: Error & { code?: string }) =>
  error.code === code && message.test(error.message);

test('an address in the networks of the nodes is dialed', async () => {
  await using server = await startServer();
  const connection = await dialer(['127.0.0.0/8'], { allow: ['127.0.0.0/8'] }).dial({
    host: '127.0.0.1',
    port: server.port,
  });
  const [chunk] = (await once(connection, 'data')) as [Buffer];
  assert.equal(chunk.toString(), 'hello');
  connection.destroy();
});

test('without networks no connection is opened, and the error names the field', async () => {
  for (const networks of [undefined, []]) {
    await assert.rejects(
      dialer(networks, { allow: ['127.0.0.0/8'] }).dial({ host: '127.0.0.1', port: 1 }),
      rejection('Refused', /control plane "red": spec\.nodes\.networks is empty, and no tunnel agent is connected$/),
    );
  }
});

test('an address outside of the networks is refused', async () => {
  await using server = await startServer();
  for (const host of ['127.0.0.1', '::ffff:127.0.0.1', '::1']) {
    await assert.rejects(
      dialer(['10.0.0.0/8', 'fd00::/8'], { allow: ['127.0.0.0/8', '::1'] }).dial({ host, port: server.port }),
      rejection('Refused', /the address is not in spec\.nodes\.networks of control plane "red"$/),
    );
  }
  assert.equal(server.connections, 0);
});

test('loopback, metadata and own addresses stay refused although the networks contain them', async () => {
  await using server = await startServer();
  const everywhere = dialer(['0.0.0.0/0', '::/0'], { hostAddresses: () => ['192.0.2.7'] });
  for (const host of ['127.0.0.1', '169.254.169.254', '0.0.0.0', '::1', '::ffff:127.0.0.1', 'fe80::1', '192.0.2.7']) {
    await assert.rejects(
      everywhere.dial({ host, port: server.port }),
      rejection('Refused', /the address is not allowed by this server's policy$/),
      host,
    );
  }
  assert.equal(server.connections, 0);
});

test('a name is dialed only at resolved addresses that are in the networks', async () => {
  await using server = await startServer();
  const resolving = (address: string): OutboundOptions => ({
    allow: ['127.0.0.0/8'],
    resolver: (_name, _options, callback) => callback(null, [{ address, family: 4 }]),
  });
  await assert.rejects(
    dialer(['127.0.0.0/8'], resolving('10.1.2.3')).dial({ host: 'node-a', port: server.port }),
    rejection('Refused', /dial tcp 10\.1\.2\.3/),
  );
  const connection = await dialer(['127.0.0.0/8'], resolving('127.0.0.1')).dial({ host: 'node-a', port: server.port });
  connection.destroy();
});

test('a TLS connection is opened only to the addresses that are dialed without TLS', async () => {
  await using server = await startServer();
  const own = { allow: ['127.0.0.0/8'] };
  const target = { host: '127.0.0.1', port: server.port };
  const refused = [
    [dialer([], own), /spec\.nodes\.networks is empty/],
    [dialer(['10.0.0.0/8'], own), /the address is not in spec\.nodes\.networks/],
    [dialer(['0.0.0.0/0']), /the address is not allowed by this server's policy$/],
  ] as const;
  for (const [direct, message] of refused) {
    await assert.rejects(async () => direct.dialTls(target, {}), rejection('Refused', message));
  }
  assert.equal(server.connections, 0);
  const socket = (await dialer(['127.0.0.0/8'], own).dialTls(target, {}))!;
  socket.on('error', () => {}).destroy();
});

test('a proxy that the administrator configured opens the connection instead of a TLS connection from this process', () => {
  const egress = { dial: () => Promise.reject(new Error('unused')) };
  assert.equal(dialer(['127.0.0.0/8'], { egress }).dialTls({ host: '127.0.0.1', port: 1 }, {}), undefined);
});

test('an aborted dial rejects', async () => {
  await assert.rejects(
    dialer(['127.0.0.0/8'], { allow: ['127.0.0.0/8'] }).dial({
      host: '127.0.0.1',
      port: 1,
      signal: AbortSignal.abort(),
    }),
    rejection('Aborted', /context canceled/),
  );
});
