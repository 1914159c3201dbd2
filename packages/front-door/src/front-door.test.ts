import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { proxyHeader, readProxyHeader } from './proxy-protocol.ts';
import { httpRefusal } from './refusals.ts';
import { allOf, TestDoor } from './testing/doors.ts';
import { helloOf } from './testing/hellos.ts';

const failures = (reason: string): string => `hangar_front_door_handshake_failures_total{reason="${reason}"}`;
const results = (route: string, result: string): string =>
  `hangar_front_door_connections_total{route="${route}",result="${result}"}`;

/** Resolves when the connection is closed, with the code of its error. */
function closed(socket: Socket): Promise<string | undefined> {
  const code = (): string | undefined => (socket.errored as NodeJS.ErrnoException | null)?.code;
  if (socket.closed) return Promise.resolve(code());
  return new Promise((resolve) => {
    socket.on('error', () => undefined).on('end', () => socket.end());
    socket.once('close', () => resolve(code()));
    socket.resume();
  });
}

const untilValue = async (door: TestDoor, series: string, value: number): Promise<void> => {
  while (door.metrics.value(series) !== value) await new Promise((resolve) => setImmediate(resolve));
};

describe('a front door', () => {
  test('routes TLS connections by their server name', async () => {
    await using door = await TestDoor.open();
    for (const name of ['a', 'b']) {
      door.route(`${name}.example`, await door.tlsBackend((socket) => socket.end(`I am ${name}`)));
    }
    assert.equal(String(await allOf(door.tls('a.example'))), 'I am a');
    assert.equal(String(await allOf(door.tls('B.example'))), 'I am b');
    await untilValue(door, results('a', 'ended'), 1);
    assert.equal(door.metrics.value('hangar_front_door_connections{route="a"}'), 0);
    assert.ok(door.metrics.value('hangar_front_door_received_bytes_total{route="a"}')! > 200);
    assert.ok(door.metrics.value('hangar_front_door_sent_bytes_total{route="a"}')! > 200);
  });

  test('answers an unknown server name with the alert unrecognized_name', async () => {
    await using door = await TestDoor.open();
    const [error] = (await once(door.tls('unknown.example'), 'error')) as [NodeJS.ErrnoException];
    assert.equal(error.code, 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME');
    assert.equal(door.metrics.value(failures('unknown-server-name')), 1);
    const [unnamed] = (await once(door.tls(''), 'error')) as [NodeJS.ErrnoException];
    assert.equal(unnamed.code, 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME');
    assert.equal(door.metrics.value(failures('no-server-name')), 1);
  });

  test('answers a request without TLS as kube-apiserver does', async () => {
    await using door = await TestDoor.open();
    const socket = door.connect();
    socket.write('GET /version HTTP/1.1\r\nHost: a.example\r\n\r\n');
    assert.equal(String(await allOf(socket)), httpRefusal);
    const other = door.connect();
    other.write('SSH-2.0-client\r\n');
    assert.equal(await closed(other), 'ECONNRESET');
    assert.equal(door.metrics.value(failures('http-request')), 1);
    assert.equal(door.metrics.value(failures('not-tls')), 1);
  });

  test('forwards large bodies unchanged, although the receiver is slow', async () => {
    await using door = await TestDoor.open();
    const body = Buffer.alloc(4 * 1024 * 1024, 'hangar');
    const hello = await helloOf({ servername: 'a.example' });
    door.route('a.example', await door.backend((socket) => void socket.pipe(socket)));
    const client = door.connect();
    client.write(hello);
    client.end(body);
    const received: Buffer[] = [];
    for await (const chunk of client) {
      received.push(chunk as Buffer);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(Buffer.concat(received).equals(Buffer.concat([hello, body])));
  });

  test('keeps one direction open after the other has ended', async () => {
    await using door = await TestDoor.open();
    const backend = Promise.withResolvers<Socket>();
    door.route('a.example', await door.backend(backend.resolve));
    const client = door.connect();
    client.end(await helloOf({ servername: 'a.example' }));
    const socket = await backend.promise;
    await allOf(socket.on('end', () => socket.write('after the end')).on('end', () => socket.end()));
    assert.equal(String(await allOf(client)), 'after the end');
  });

  test('cuts a connection of which only one direction is open for too long', async () => {
    await using door = await TestDoor.open({ halfOpenMs: 10 });
    door.route('a.example', await door.backend((socket) => socket.resume()));
    const client = door.connect();
    client.end(await helloOf({ servername: 'a.example' }));
    await closed(client);
    await untilValue(door, results('a', 'ended'), 1);
  });

  test('tries the next backend, and resets a connection that no backend accepts', async () => {
    await using door = await TestDoor.open();
    const accepts = await door.tlsBackend((socket) => socket.end('here'));
    const refuses = { host: '127.0.0.1', port: 1 };
    door.route('a.example', refuses, accepts);
    for (let i = 0; i < 2; i++) assert.equal(String(await allOf(door.tls('a.example'))), 'here');
    door.route('b.example', refuses);
    door.route('c.example');
    door.route('d.example', { host: '127.0.0.1', port: 70_000 });
    for (const name of ['b', 'c', 'd']) {
      assert.equal(await closed(door.tls(`${name}.example`)), 'ECONNRESET');
      assert.equal(door.metrics.value(results(name, 'backend-unreachable')), 1);
    }
  });

  test('closes the connection to the backend when the client is gone, and the reverse', async () => {
    await using door = await TestDoor.open();
    const backends: Socket[] = [];
    door.route('a.example', await door.backend((socket) => void backends.push(socket)));
    const hello = await helloOf({ servername: 'a.example' });
    const [first, second] = [door.connect(), door.connect()];
    first.write(hello);
    await untilValue(door, 'hangar_front_door_connections{route="a"}', 1);
    while (backends.length < 1) await new Promise((resolve) => setImmediate(resolve));
    first.resetAndDestroy();
    await closed(backends[0]!);
    second.write(hello);
    while (backends.length < 2) await new Promise((resolve) => setImmediate(resolve));
    backends[1]!.resetAndDestroy();
    await closed(second);
    await untilValue(door, results('a', 'ended'), 2);
  });
});

describe('limits', () => {
  test('a client that does not complete its ClientHello in time is cut', async () => {
    await using door = await TestDoor.open({ handshakeTimeoutMs: 20 });
    const hello = await helloOf({ servername: 'a.example' });
    const [silent, slow] = [door.connect(), door.connect()];
    slow.write(hello.subarray(0, 40));
    assert.deepEqual(await Promise.all([closed(silent), closed(slow)]), ['ECONNRESET', 'ECONNRESET']);
    assert.equal(door.metrics.value(failures('timeout')), 2);
  });

  test('half-open connections above the limit do not affect a client: the oldest are cut', async () => {
    await using door = await TestDoor.open({ limits: { handshakesMax: 8, handshakesPerSourceMax: 4 } });
    door.route('a.example', await door.tlsBackend((socket) => socket.end('here')));
    const attackers = Array.from({ length: 12 }, () => door.connect());
    const others = Array.from({ length: 4 }, () => door.connect('127.0.0.2'));
    assert.equal(String(await allOf(door.tls('a.example'))), 'here');
    await untilValue(door, 'hangar_front_door_pending_handshakes', 8 - 1);
    assert.equal(door.metrics.value(failures('handshake-limit')), 9);
    assert.equal(await closed(attackers[0]!), 'ECONNRESET');
    assert.equal(others[0]!.destroyed, false);
  });

  test('refused clients that do not close are limited, too', async () => {
    await using door = await TestDoor.open({ limits: { handshakesMax: 2 } });
    const refused = Array.from({ length: 3 }, () => door.connect());
    for (const socket of refused) {
      socket.write('GET / HTTP/1.1\r\n\r\n');
      const response = new Promise((resolve) => socket.once('data', resolve));
      await Promise.race([response, new Promise((resolve) => socket.once('close', resolve))]);
    }
    assert.deepEqual(
      refused.map(({ bytesRead }) => bytesRead > 0),
      [true, true, false],
    );
  });

  test('connections are limited per route, per source and in total', async () => {
    const limits = { connectionsMax: 3, connectionsPerRouteMax: 2, connectionsPerSourceMax: 2 };
    await using door = await TestDoor.open({ limits });
    const backend = await door.backend((socket) => socket.resume());
    for (const name of ['a', 'b', 'c']) door.route(`${name}.example`, backend);
    const open = async (name: string, from?: string): Promise<Socket> => {
      const socket = door.connect(from);
      socket.write(await helloOf({ servername: `${name}.example` }));
      return socket;
    };
    await open('a');
    await open('a', '127.0.0.2');
    await untilValue(door, 'hangar_front_door_connections{route="a"}', 2);
    assert.equal(await closed(await open('a', '127.0.0.3')), 'ECONNRESET');
    assert.equal(door.metrics.value(results('a', 'route-limit')), 1);
    await open('b');
    await untilValue(door, 'hangar_front_door_connections{route="b"}', 1);
    assert.equal(await closed(await open('c', '127.0.0.9')), 'ECONNRESET');
    assert.equal(door.metrics.value(results('c', 'connection-limit')), 1);
  });

  test('a source is an address, or the network of an IPv6 client', async () => {
    const { sourceOf } = await import('./limits.ts');
    assert.equal(sourceOf('::ffff:192.0.2.1'), '192.0.2.1');
    assert.equal(sourceOf('2001:db8:0:1::1'), sourceOf('2001:db8:0:1:ffff::2'));
    assert.notEqual(sourceOf('2001:db8:0:1::1'), sourceOf('2001:db8:0:2::1'));
  });
});

describe('the PROXY protocol', () => {
  test('backends get the address of the client and the server name', async () => {
    await using door = await TestDoor.open({ backendProxyProtocol: 'v2' });
    const received = Promise.withResolvers<Buffer>();
    door.route('a.example', await door.backend((socket) => socket.once('data', received.resolve)));
    const client = door.connect();
    const hello = await helloOf({ servername: 'a.example' });
    client.write(hello);
    const bytes = await received.promise;
    const source = { address: '127.0.0.1', port: client.localPort! };
    const destination = { address: '127.0.0.1', port: door.door.port };
    const expected = proxyHeader('v2', { source, destination }, 'a.example');
    assert.deepEqual(bytes.subarray(0, expected.length), expected);
  });

  test('a trusted load balancer reports the address of the client', async () => {
    const options = { trustedProxies: ['127.0.0.0/31', '::1'], backendProxyProtocol: 'v1' } as const;
    await using door = await TestDoor.open(options);
    const received = Promise.withResolvers<Buffer>();
    door.route('a.example', await door.backend((socket) => socket.once('data', received.resolve)));
    const connection = {
      source: { address: '192.0.2.7', port: 40_000 },
      destination: { address: '198.51.100.1', port: 6443 },
    };
    const client = door.connect();
    const hello = await helloOf({ servername: 'a.example' });
    client.write(Buffer.concat([proxyHeader('v2', connection), hello.subarray(0, 9)]));
    client.write(hello.subarray(9));
    assert.deepEqual(readProxyHeader(await received.promise), { kind: 'header', connection, bytes: 46 });
  });

  test('a trusted load balancer must send a header, and other clients cannot', async () => {
    await using door = await TestDoor.open({ trustedProxies: ['127.0.0.1'] });
    const hello = await helloOf({ servername: 'a.example' });
    const balancer = door.connect();
    balancer.write(hello);
    assert.equal(await closed(balancer), 'ECONNRESET');
    assert.equal(door.metrics.value(failures('invalid-proxy-header')), 1);
    const client = door.connect('127.0.0.2');
    client.write(proxyHeader('v1', undefined));
    client.write(hello);
    assert.equal(await closed(client), 'ECONNRESET');
    assert.equal(door.metrics.value(failures('not-tls')), 1);
  });

  test('a network that is not one is rejected', async () => {
    for (const network of ['10.0.0.0/33', 'example.com', '10.0.0.0/', '10.0.0.0/x']) {
      await assert.rejects(TestDoor.open({ trustedProxies: [network] }), { code: 'InvalidNetwork' }, network);
    }
  });
});

describe('close', () => {
  test('waits for open connections, and accepts no others', async () => {
    await using door = await TestDoor.open();
    const backend = Promise.withResolvers<Socket>();
    door.route('a.example', await door.backend(backend.resolve));
    const client = door.connect();
    client.write(await helloOf({ servername: 'a.example' }));
    const socket = await backend.promise;
    const ending = door.door.close({ drainMs: 60_000 });
    assert.equal(await closed(door.connect()), 'ECONNREFUSED');
    socket.end('last');
    assert.equal(String(await allOf(client)), 'last');
    client.end();
    await ending;
  });

  test('cuts connections at its deadline', async () => {
    await using door = await TestDoor.open();
    const backend = Promise.withResolvers<Socket>();
    door.route('a.example', await door.backend(backend.resolve));
    const client = door.connect();
    client.write(await helloOf({ servername: 'a.example' }));
    await backend.promise;
    const pending = door.connect();
    await untilValue(door, 'hangar_front_door_pending_handshakes', 1);
    await Promise.all([door.door.close({ drainMs: 10 }), closed(client), closed(pending)]);
    assert.equal(door.metrics.value(results('a', 'cut')), 1);
  });

  test('a port that is in use is reported', async () => {
    await using door = await TestDoor.open();
    await assert.rejects(TestDoor.open({ port: door.door.port }), { code: 'ListenFailed' });
  });
});
