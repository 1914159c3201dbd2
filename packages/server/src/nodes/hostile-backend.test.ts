import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import type { NodeDialer } from './dialer.ts';
import { nodeAddress, podAddress, pods, startCluster } from './testing/cluster.ts';
import type { NotSwitched } from './testing/cluster.ts';
import { startKubelet } from './testing/kubelet.ts';

const proxy = `${pods}/web/proxy/`;
const exec = `${pods}/web/exec?command=ls&stdout=1`;
const spdy = { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' };
const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n';

interface RawServer extends AsyncDisposable {
  readonly port: number;
  readonly sockets: ReadonlySet<Socket>;
}

/** Starts a pod that answers with any bytes. */
async function startRaw(onRequest: (socket: Socket) => void): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', () => onRequest(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

test('a pod that switches the protocol without a request for it gets no connection to the client', async () => {
  await using cluster = await startCluster();
  await using pod = await startRaw((socket) => {
    socket.write(switching);
    setImmediate(() => socket.resetAndDestroy());
  });
  await cluster.populate();
  cluster.routes.set(`${podAddress}:8080`, pod.port);
  for (const method of ['GET', 'POST', 'HEAD']) {
    const { status } = await cluster.request(method, proxy);
    assert.equal(status, 503);
  }
  await cluster.idle();
  assert.equal((await cluster.request('GET', `${pods}/web`)).status, 200);
});

test('a kubelet that switches the protocol of a log request is refused', async () => {
  await using cluster = await startCluster();
  await using kubelet = await startKubelet({
    authority: cluster.authority,
    hosts: [nodeAddress],
    handler: (_, response) => void response.socket!.write(switching),
  });
  await cluster.populate(kubelet.port);
  assert.equal((await cluster.request('GET', `${pods}/web/log`)).status, 500);
  assert.equal((await cluster.request('GET', `${pods}/web/log?follow=true`)).status, 500);
  await cluster.idle();
});

test('a request that cannot be sent to its node is not counted as an open stream', async () => {
  await using cluster = await startCluster({ nodes: { streamsMax: 2 } });
  await cluster.populate(undefined, { status: { addresses: [{ type: 'InternalIP', address: 'node\u4e00' }] } });
  for (let attempt = 0; attempt < 4; attempt++) {
    const error = await cluster.upgrade('POST', exec, spdy).catch((one: NotSwitched) => one);
    assert.equal((error as NotSwitched).status, 500);
    assert.equal((await cluster.request('GET', `${pods}/web/log`)).status, 500);
  }
  assert.equal(cluster.plane.nodes.open, 0);
});

/** Returns a dialer whose connections are not sockets, as those through a tunnel, and the connections. */
function tunnelTo(port: () => number): { dialer: NodeDialer; connections: Duplex[] } {
  const connections: Duplex[] = [];
  const dial = async (): Promise<Duplex> => {
    const socket = connectTcp(port(), '127.0.0.1');
    socket.on('error', () => {});
    const connection = Duplex.from({ readable: socket, writable: socket } as never);
    connection.on('error', () => {});
    connections.push(connection);
    return connection;
  };
  return { dialer: { dial }, connections };
}

test('a tunnel may fail at any time: in the handshake, in a response, after an upgrade, and while idle', async () => {
  let port = 0;
  const { dialer, connections } = tunnelTo(() => port);
  await using cluster = await startCluster({ nodes: { dialer } });
  await using silent = await startRaw(() => {});
  await using kubelet = await startKubelet({
    authority: cluster.authority,
    hosts: [nodeAddress],
    handler: ({ url }, response) => {
      if (url!.includes('follow')) response.write('line\n');
      else response.end('ok');
    },
    onUpgrade: (_, socket) => void socket.write(switching),
  });
  await cluster.populate();
  const log = `${pods}/web/log`;
  const lose = (): void => void connections.pop()!.destroy(new Error('the agent disconnected'));
  port = silent.port;
  const waiting = cluster.request('GET', log);
  while (connections.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  while (silent.sockets.size === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  lose();
  assert.equal((await waiting).status, 500);
  port = kubelet.port;
  assert.equal((await cluster.request('GET', log)).text, 'ok');
  lose();
  const followed = await cluster.open('GET', `${log}?follow=true`);
  await once(followed, 'data');
  const ended = new Promise((resolve) => followed.on('error', () => {}).on('close', resolve));
  lose();
  await ended;
  const { socket } = await cluster.upgrade('POST', exec, spdy);
  lose();
  await once(socket, 'close');
  await cluster.idle();
  assert.equal((await cluster.request('GET', log)).text, 'ok');
});

test('idle connections to many ports of a pod are limited', async () => {
  await using pod = await startRaw((socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
  const dialer: NodeDialer = { dial: async () => connectTcp(pod.port, '127.0.0.1') };
  await using cluster = await startCluster({ nodes: { dialer } });
  await cluster.populate();
  for (let port = 1; port <= 100; port++) {
    assert.equal((await cluster.request('GET', `${pods}/web:${port}/proxy/`)).status, 200);
  }
  await cluster.idle();
  // Both ends are in this process, so closed connections disappear within a few turns of the event loop.
  for (let turns = 0; turns < 50 && pod.sockets.size > 32; turns++) await cluster.request('GET', `${pods}/web`);
  assert.ok(pod.sockets.size <= 32, `${pod.sockets.size} connections`);
});

test('a redirect of a pod to this server stays below the path of the proxy', async () => {
  let location = '';
  await using pod = await startRaw(
    (socket) => void socket.write(`HTTP/1.1 307 Moved\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`),
  );
  await using cluster = await startCluster();
  await cluster.populate();
  cluster.routes.set(`${podAddress}:8080`, pod.port);
  const origin = `https://127.0.0.1:${cluster.port}`;
  const prefix = `${pods}/web/proxy`;
  const other = 'clusters/blue/api/v1/secrets';
  for (const one of [
    `/${other}`,
    `${prefix}/../../../../../../../../${other}`,
    `${prefix}/%2e%2e/%2E./.%2e/../../../../../${other}`,
    `${prefix}-other/x`,
    `../../../../../../../../../../${other}`,
    `${origin}${prefix}/../../../../../../../${other}`,
    `${origin.toUpperCase()}/${other}`,
    `//127.0.0.1:${cluster.port}/${other}`,
    `https:/${other}`,
    `https:${other}`,
    `\\\\127.0.0.1:${cluster.port}\\${other}`,
    `https://user@127.0.0.1:${cluster.port}/${other}`,
    '?a=b',
    'relative',
  ]) {
    location = one;
    const { headers } = await cluster.request('POST', `${proxy}a/b`, { body: '{}' });
    const followed = new URL(String(headers.location), `${origin}${proxy}a/b`);
    assert.equal(followed.origin, origin, one);
    assert.ok(followed.pathname.startsWith(`${prefix}/`), `${one} leads to ${followed.href}`);
  }
});
