import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import { startCluster, nodeAddress, pods } from './testing/cluster.ts';
import type { NotSwitched, TestCluster } from './testing/cluster.ts';
import { startKubelet } from './testing/kubelet.ts';
import type { TestKubelet } from './testing/kubelet.ts';
import { SpdyPeer } from './testing/spdy-peer.ts';
import type { PeerHandler } from './testing/spdy-peer.ts';
import { clientFrame, WebSocketClient, webSocketHeaders } from './testing/websocket-client.ts';

const v5 = 'v5.channel.k8s.io';
const exec = (query: string): string => `${pods}/web/exec?command=sh&${query}`;

interface Spdy {
  readonly kubelet: TestKubelet;
  /** Resolves with the connection of the first request. */
  readonly peer: Promise<SpdyPeer>;
}

async function spdyKubelet(cluster: TestCluster, handler: PeerHandler): Promise<Spdy & AsyncDisposable> {
  let found: (peer: SpdyPeer) => void;
  const peer = new Promise<SpdyPeer>((resolve) => (found = resolve));
  const kubelet = await startKubelet({
    authority: cluster.authority,
    hosts: [nodeAddress],
    onUpgrade: (request, socket) => {
      switchTo(request, socket);
      found(new SpdyPeer(socket, handler));
    },
  });
  await cluster.populate(kubelet.port);
  return { kubelet, peer, [Symbol.asyncDispose]: () => kubelet[Symbol.asyncDispose]() };
}

function switchTo({ headers }: IncomingMessage, socket: Duplex): void {
  const version = String(headers['x-stream-protocol-version']).split(',')[0];
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${version}\r\n\r\n`,
  );
}

async function connect(cluster: TestCluster, path: string, protocol = v5): Promise<WebSocketClient> {
  const { response, socket } = await cluster.upgrade('GET', path, webSocketHeaders(protocol));
  assert.equal(response.headers['sec-websocket-protocol'], protocol);
  return new WebSocketClient(socket);
}

const message = async (client: WebSocketClient): Promise<[number, string]> => {
  const { payload } = (await client.next())!;
  return [payload[0]!, payload.subarray(1).toString()];
};

test('v5 is translated to SPDY: output, input, close of the input, and the exit code', async () => {
  await using cluster = await startCluster();
  const input: string[] = [];
  await using spdy = await spdyKubelet(cluster, {
    data: (type, bytes) => void input.push(`${type} ${bytes}`),
    fin: (type, peer) => {
      assert.equal(type, 'stdin');
      peer.send('stdout', 'out', true);
      peer.send('stderr', 'err');
      peer.send('stderr', '', true);
      const details = { causes: [{ reason: 'ExitCode', message: '3' }] };
      const status = { metadata: {}, status: 'Failure', reason: 'NonZeroExitCode', message: 'x', details };
      peer.send('error', JSON.stringify(status), true);
    },
  });
  const client = await connect(cluster, exec('stdin=1&stdout=1&stderr=1'));
  assert.deepEqual(await message(client), [1, ''], 'an empty message shows that the connection is established');
  const peer = await spdy.peer;
  // A message in several fragments, the first of which is empty; a message of an unknown channel; a ping.
  client.socket.write(clientFrame(2, Buffer.alloc(0), { isFinal: false }));
  client.socket.write(clientFrame(0, Buffer.from([0, 97]), { isFinal: false }));
  client.socket.write(clientFrame(9, Buffer.from('hi')));
  client.socket.write(clientFrame(0, Buffer.from('bc')));
  client.send([9, 1, 2]);
  client.send(Buffer.concat([Buffer.from([0]), Buffer.alloc(70_000, 'x')]));
  const pong = (await client.next())!;
  assert.deepEqual([pong.opcode, pong.payload.toString()], [10, 'hi']);
  peer.ping(2);
  client.send([255, 0]);
  const received = [await message(client), await message(client)];
  assert.deepEqual(received, [
    [1, 'out'],
    [2, 'err'],
  ]);
  const [channel, text] = await message(client);
  assert.equal(channel, 3);
  assert.deepEqual(JSON.parse(text), {
    metadata: {},
    status: 'Failure',
    message: 'command terminated with non-zero exit code: command terminated with exit code 3',
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: '3' }] },
  });
  assert.equal((await client.next())!.opcode, 8);
  assert.deepEqual(peer.types, ['error', 'stdin', 'stdout', 'stderr']);
  assert.equal(input.map((one) => one.slice('stdin '.length)).join(''), `abc${'x'.repeat(70_000)}`);
  const { method, url, headers } = spdy.kubelet.requests[0]!;
  assert.deepEqual([method, url], ['POST', '/exec/default/web/main?command=sh&error=1&input=1&output=1']);
  assert.equal(headers['sec-websocket-key'], undefined);
  await cluster.idle();
});

test('a terminal has a stream for its size, no stream for errors, and ends with success', async () => {
  await using cluster = await startCluster();
  await using spdy = await spdyKubelet(cluster, {
    data: (type, bytes, peer) => {
      assert.deepEqual([type, bytes.toString()], ['resize', '{"Width":80}']);
      peer.send('stdout', 'done', true);
      peer.send('error', JSON.stringify({ status: 'Success' }), true);
    },
  });
  const client = await connect(cluster, exec('stdin=1&stdout=1&stderr=1&tty=1'));
  await client.next();
  client.send(Buffer.concat([Buffer.from([4]), Buffer.from('{"Width":80}')]));
  assert.deepEqual(await message(client), [1, 'done']);
  assert.deepEqual(JSON.parse((await message(client))[1]), { metadata: {}, status: 'Success' });
  assert.deepEqual((await spdy.peer).types, ['error', 'stdin', 'stdout', 'resize']);
});

test('a kubelet that refuses or disconnects is reported on the error channel', async () => {
  await using cluster = await startCluster();
  let isRefusing = true;
  await using kubelet = await startKubelet({
    authority: cluster.authority,
    hosts: [nodeAddress],
    onUpgrade: (request, socket) => {
      if (isRefusing) return void socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 11\r\n\r\nno such pod');
      switchTo(request, socket);
      socket.once('data', () => socket.destroy());
    },
  });
  await cluster.populate(kubelet.port);
  for (const expected of [
    'unable to upgrade connection: no such pod',
    'error reading from error stream: unexpected EOF',
  ]) {
    const client = await connect(cluster, exec('stdout=1'));
    await client.next();
    const [channel, text] = await message(client);
    const status = JSON.parse(text) as { reason: string; message: string };
    assert.deepEqual(
      [channel, status.reason, status.message],
      [3, 'InternalError', `Internal error occurred: ${expected}`],
    );
    isRefusing = false;
  }
  await cluster.idle();
});

test('a client that violates the protocol or disconnects ends the connection to the kubelet', async () => {
  const unmasked = Buffer.from([0x82, 1, 0]);
  const huge = Buffer.from([0x82, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4]);
  const reserved = Buffer.from([0xc2, 0x80, 1, 2, 3, 4]);
  const alone = clientFrame(0, Buffer.from('x'));
  for (const bytes of [unmasked, huge, reserved, alone, undefined]) {
    await using cluster = await startCluster();
    await using spdy = await spdyKubelet(cluster, {});
    const client = await connect(cluster, exec('stdin=1&stdout=1'));
    const { socket } = await spdy.peer;
    const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
    if (bytes) client.socket.write(bytes);
    else client.socket.destroy();
    await closed;
    await cluster.idle();
  }
});

test('a client that does not read slows the kubelet down', async () => {
  await using cluster = await startCluster();
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const bytesMax = 1024 * 1024 * 1024;
  let written = 0;
  await using spdy = await spdyKubelet(cluster, {
    opened: (type, peer) => {
      if (type !== 'stdout') return;
      const write = (): void => {
        while (written < bytesMax) {
          written += chunk.length;
          if (!peer.send('stdout', chunk)) return void peer.socket.once('drain', write);
        }
      };
      write();
    },
  });
  const { socket } = await cluster.upgrade('GET', exec('stdout=1'), webSocketHeaders(v5));
  socket.pause();
  await spdy.peer;
  for (let i = 0; i < 200; i++) assert.equal((await cluster.request('GET', `${pods}/web`)).status, 200);
  assert.ok(written < 64 * 1024 * 1024, `${written} bytes were taken for a client that reads none`);
  socket.destroy();
});

test('portforward over WebSocket carries the SPDY connection', async () => {
  await using cluster = await startCluster();
  await using kubelet = await startKubelet({
    authority: cluster.authority,
    hosts: [nodeAddress],
    onUpgrade: (request, socket) => {
      switchTo(request, socket);
      socket.pipe(socket);
    },
  });
  await cluster.populate(kubelet.port);
  const protocol = 'SPDY/3.1+portforward.k8s.io';
  const client = await connect(cluster, `${pods}/web/portforward`, protocol);
  client.send([1, 2, 3]);
  assert.deepEqual([...(await client.next())!.payload], [1, 2, 3]);
  const { method, url, headers } = kubelet.requests[0]!;
  assert.deepEqual([method, url], ['POST', '/portForward/default/web']);
  assert.equal(headers['x-stream-protocol-version'], 'portforward.k8s.io');
  client.socket.write(clientFrame(8, Buffer.alloc(0)));
  assert.equal((await client.next())!.opcode, 8);
  await cluster.idle();
});

test('a kubelet that supports WebSockets gets the request of the client unchanged', async () => {
  await using cluster = await startCluster();
  await using kubelet = await startKubelet({
    authority: cluster.authority,
    hosts: [nodeAddress],
    onUpgrade: (_, socket) => {
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: ${v5}\r\n\r\n`,
      );
      socket.pipe(socket);
    },
  });
  await cluster.populate(kubelet.port, { status: { declaredFeatures: ['ExtendWebSocketsToKubelet'] } });
  const bearer = 'base64url.bearer.authorization.k8s.io.c2VjcmV0';
  const { socket } = await cluster.upgrade('GET', exec('stdout=1'), webSocketHeaders(`${v5}, ${bearer}`));
  socket.write('as it is');
  assert.equal((await once(socket, 'data')).toString(), 'as it is');
  const { method, headers } = kubelet.requests[0]!;
  assert.deepEqual([method, headers['sec-websocket-protocol'], headers['upgrade']], ['GET', v5, 'websocket']);
  socket.destroy();
});

test('a log over WebSocket is sent in messages', async () => {
  await using cluster = await startCluster();
  await using kubelet = await startKubelet({
    authority: cluster.authority,
    hosts: [nodeAddress],
    handler: (_, response) => response.end('line\n'),
  });
  await cluster.populate(kubelet.port);
  const log = `${pods}/web/log`;
  const binary = await connect(cluster, log, 'binary.k8s.io');
  assert.equal((await binary.next())!.payload.length, 0);
  assert.equal((await binary.next())!.payload.toString(), 'line\n');
  assert.equal((await binary.next())!.opcode, 8);
  const text = await connect(cluster, log, 'base64.binary.k8s.io');
  await text.next();
  const { opcode, payload } = (await text.next())!;
  assert.deepEqual([opcode, payload.toString()], [1, Buffer.from('line\n').toString('base64')]);
  await assert.rejects(
    cluster.upgrade('GET', log, webSocketHeaders('other')),
    (error: NotSwitched) => error.status === 403,
  );
  await cluster.idle();
});
