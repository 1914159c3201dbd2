import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { Auditor } from '../audit/auditor.ts';
import { AuditPolicy } from '../audit/policy.ts';
import { isStreaming } from '../http/message.ts';
import { Outbound } from '../outbound/index.ts';
import { tenants, TenancyServer } from '../testing/tenancy-server.ts';
import { TestSink } from '../testing/test-server.ts';
import { StreamLimit, TotalStreams } from './stream-limit.ts';
import { nodeAddress, pods, startCluster } from './testing/cluster.ts';
import type { NotSwitched, Received } from './testing/cluster.ts';
import { startKubelet } from './testing/kubelet.ts';

const log = `${pods}/web/log`;
const exec = `${pods}/web/exec?command=ls&stdout=1`;
const spdy = { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' };
const merge = { contentType: 'application/merge-patch+json' };

const message = ({ text }: Received): string => (JSON.parse(text) as { message: string }).message;

/** Returns a clock whose longer timers run only when `run` is called. */
function heldClock() {
  const held = new Map<() => void, number>();
  const clock: Clock = {
    ...systemClock,
    after(delayMs, callback) {
      if (delayMs < 5_000) return systemClock.after(delayMs, callback);
      held.set(callback, delayMs);
      return { cancel: () => void held.delete(callback) };
    },
  };
  const count = (delayMs: number): number => [...held.values()].filter((one) => one === delayMs).length;
  /** Runs the timers with this delay, once `number` of them are set. */
  const run = async (delayMs: number, number: number): Promise<void> => {
    while (count(delayMs) < number) await new Promise((resolve) => setTimeout(resolve, 5));
    for (const [callback, ms] of held) if (ms === delayMs) callback();
  };
  return { clock, run };
}

async function startSilent(): Promise<Server & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(server, {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  });
}

test('a kubelet that never completes the TLS handshake or never answers is given up', async () => {
  const { clock, run } = heldClock();
  await using cluster = await startCluster({ clock });
  await using silent = await startSilent();
  await using mute = await startKubelet({
    authority: cluster.authority,
    hosts: [nodeAddress],
    handler: () => {},
    onUpgrade: () => {},
  });
  await cluster.populate((silent.address() as AddressInfo).port);
  const unfinished = cluster.request('GET', log);
  await run(10_000, 1);
  assert.match(message(await unfinished), /net\/http: TLS handshake timeout$/);
  cluster.routes.set(`${nodeAddress}:10250`, mute.port);
  const unanswered = cluster.request('GET', log);
  const switching = cluster.upgrade('POST', exec, spdy).catch((error: NotSwitched) => error);
  await run(60_000, 2);
  const received = await unanswered;
  assert.equal(received.status, 500);
  assert.match(message(received), /net\/http: timeout awaiting response headers$/);
  assert.match(
    ((await switching) as NotSwitched).message,
    /error dialing backend: .*timeout awaiting response headers/,
  );
  await cluster.idle();
});

test('a client that disconnects ends the connection that is being opened for it', async () => {
  await using cluster = await startCluster();
  await using silent = await startSilent();
  let open = 0;
  silent.on('connection', (socket) => {
    open++;
    socket.resume().once('close', () => open--);
  });
  await cluster.populate((silent.address() as AddressInfo).port);
  for (const [method, path, headers] of [
    ['GET', log, {}],
    ['POST', exec, { connection: 'Upgrade', ...spdy }],
    ['GET', exec, { connection: 'Upgrade', upgrade: 'websocket' }],
  ] as const) {
    const accepted = once(silent, 'connection');
    const asked = cluster.begin(method, path, { headers });
    await accepted;
    assert.equal(cluster.plane.nodes.open, 1);
    if (method === 'GET') asked.socket!.end();
    else asked.destroy();
    await cluster.idle();
    while (open > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
});

test('streams beyond the limit are refused with 429, and the refusal names the control plane and the limit', async () => {
  await using cluster = await startCluster({ nodes: { streamsMax: 20 } });
  await using kubelet = await startKubelet({
    authority: cluster.authority,
    hosts: [nodeAddress],
    onUpgrade: (_, socket) =>
      void socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n'),
  });
  await cluster.populate(kubelet.port);
  const asked = Array.from({ length: 100 }, () => cluster.upgrade('POST', exec, spdy));
  const settled = await Promise.allSettled(asked);
  const refusals = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as NotSwitched] : []));
  assert.equal(refusals.length, 80);
  for (const { status, message: text } of refusals) {
    assert.equal(status, 429);
    assert.match(text, /control plane \\"root\\" has 20 open .* requests, and at most 20 are allowed/);
  }
  assert.ok(kubelet.connections <= 20, `${kubelet.connections} connections`);
  assert.equal((await cluster.request('GET', `${pods}/web`)).status, 200, 'other requests are served');
  for (const one of settled) if (one.status === 'fulfilled') one.value.socket.destroy();
  await cluster.idle();
  const { socket } = await cluster.upgrade('POST', exec, spdy);
  socket.destroy();
});

test('streams that wait for a silent kubelet hold no seat of the fair queue', async () => {
  let seats = 0;
  const turn = { waiting: undefined, leavesEarly: () => void seats--, left: <T>(answer: T): T => answer };
  const fairness = {
    arrives: () => {},
    refusedUnknown: () => {},
    runs: () => {},
    enter: () => (seats++, turn),
    watchBegan: () => () => {},
  };
  await using cluster = await startCluster({ fairness: () => fairness });
  await using kubelet = await startKubelet({ authority: cluster.authority, hosts: [nodeAddress], handler: () => {} });
  await cluster.populate(kubelet.port);
  seats = 0;
  const waiting = Array.from({ length: 3 }, () => cluster.open('GET', `${log}?follow=true`).catch(() => {}));
  while (kubelet.requests.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(seats, 0);
  cluster.plane.nodes.endStreams();
  await Promise.all(waiting);
});

test('one control plane cannot take all streams of the process, and every other one gets a stream', () => {
  const total = new TotalStreams(16);
  const limits = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => new StreamLimit(100, name, total));
  const leave: (() => void)[] = [];
  for (const limit of limits) {
    leave.push(limit.enter());
    try {
      for (;;) leave.push(limit.enter());
    } catch (error) {
      assert.match((error as Error).message, /the limit of this server is reached$/);
    }
  }
  assert.deepEqual(
    limits.map(({ open }) => open),
    [8, 4, 2, 1, 1, 1],
  );
  for (const one of [...leave, ...leave]) one();
  assert.equal(total.open, 0);
});

test('audit records the start and the end of a stream', async () => {
  const events: { stage: string; verb: string; code: number | undefined }[] = [];
  const policy = AuditPolicy.read(
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: RequestResponse, resources: [{resources: ["pods/exec"]}]}, {level: None}]',
  );
  const write = (text: string): void => {
    const { stage, verb, responseStatus } = JSON.parse(text) as {
      stage: string;
      verb: string;
      responseStatus?: { code: number };
    };
    events.push({ stage, verb, code: responseStatus?.code });
  };
  const auditor = new Auditor({ policy, sinks: [{ write, close: async () => {} }], clock: systemClock });
  await using cluster = await startCluster({ auditor });
  await using kubelet = await startKubelet({
    authority: cluster.authority,
    hosts: [nodeAddress],
    onUpgrade: (_, socket) =>
      void socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n'),
  });
  await cluster.populate(kubelet.port);
  const { socket } = await cluster.upgrade('POST', exec, spdy);
  assert.deepEqual(
    events.map(({ stage }) => stage),
    ['RequestReceived', 'ResponseStarted'],
  );
  socket.destroy();
  await cluster.idle();
  assert.deepEqual(events.at(-1), { stage: 'ResponseComplete', verb: 'create', code: 101 });
});

test('streams of a tenant end when it is suspended, and its kubelets see the client certificate of its own CA', async () => {
  await using server = await TenancyServer.open({ outbound: new Outbound({ allow: ['127.0.0.0/8'] }) });
  const path = await server.make('red', { nodes: { enabled: true, networks: ['127.0.0.1/32'] } });
  await server.expect(200, 'GET', `${path}/api/v1/nodes`);
  const { keys } = (await server.tenancy.open.peek('red'))!;
  await using kubelet = await startKubelet({
    authority: keys.authority,
    hosts: ['127.0.0.1'],
    handler: (_, response) => void response.write('line\n'),
  });
  await server.expect(201, 'POST', `${path}/api/v1/nodes`, {
    body: {
      metadata: { name: 'node-a' },
      status: {
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
      },
    },
  });
  const spec = { nodeName: 'node-a', containers: [{ name: 'main', image: 'image' }] };
  await server.expect(201, 'POST', `${path}${pods}`, { body: { metadata: { name: 'web' }, spec } });
  for (const suspension of ['ReadOnly', 'Offline']) {
    const { body } = await server.answer('GET', `${path}${log}?follow=true`);
    assert.ok(isStreaming(body));
    const sink = new TestSink();
    const closed = new Promise<void>((resolve) => sink.onClose(resolve));
    body.start(sink);
    await server.expect(200, 'PATCH', `${tenants}/red`, { body: { spec: { suspension } }, ...merge });
    await closed;
    await server.expect(200, 'PATCH', `${tenants}/red`, { body: { spec: { suspension: null } }, ...merge });
  }
  for (const { user, isAuthorized } of kubelet.requests) {
    assert.deepEqual([user, isAuthorized], ['kube-apiserver-kubelet-client', true]);
  }
});

test('a kubelet of another tenant is not trusted, and does not trust this tenant', async () => {
  await using server = await TenancyServer.open({ outbound: new Outbound({ allow: ['127.0.0.0/8'] }) });
  const nodes = { enabled: true, networks: ['127.0.0.1/32'] };
  const [red, blue] = [await server.make('red', { nodes }), await server.make('blue', { nodes })];
  for (const path of [red, blue]) await server.expect(200, 'GET', `${path}/api/v1/nodes`);
  const keysOf = async (name: string) => (await server.tenancy.open.peek(name))!.keys;
  await using kubelet = await startKubelet({ authority: (await keysOf('blue')).authority, hosts: ['127.0.0.1'] });
  await server.expect(201, 'POST', `${red}/api/v1/nodes`, {
    body: {
      metadata: { name: 'node-a' },
      status: {
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
      },
    },
  });
  const spec = { nodeName: 'node-a', containers: [{ name: 'main', image: 'image' }] };
  await server.expect(201, 'POST', `${red}${pods}`, { body: { metadata: { name: 'web' }, spec } });
  const { message: text } = await server.expect(500, 'GET', `${red}${log}`);
  assert.match(text, /x509: certificate signed by unknown authority/);
  assert.equal(kubelet.requests.length, 0);
  const annotations = {
    'hangar.dev/kubelet-certificate-sha256': new X509Certificate(kubelet.certificate).fingerprint256,
  };
  await server.expect(200, 'PATCH', `${red}/api/v1/nodes/node-a`, { body: { metadata: { annotations } }, ...merge });
  await server.answer('GET', `${red}${log}`);
  assert.deepEqual(
    kubelet.requests.map(({ user, isAuthorized }) => [user, isAuthorized]),
    [['kube-apiserver-kubelet-client', false]],
    'the certificate is of the CA of the own tenant, which no other kubelet accepts',
  );
});
