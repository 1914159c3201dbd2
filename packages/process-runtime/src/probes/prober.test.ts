import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttp2 } from 'node:http2';
import type { ServerHttp2Stream } from 'node:http2';
import { createServer as createHttps } from 'node:https';
import { createServer as createTcp } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { Container } from '@hangar/client/kinds/core-v1';
import { seededRandom, systemClock } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import { virtualClock } from '@hangar/testkit';
import { runProbe } from './probe.ts';
import type { ProbeTarget } from './probe.ts';
import { Prober } from './prober.ts';

/** A prober of exec probes whose results the test sets by the name of the command. */
function prober(container: Partial<Container>) {
  const clock = virtualClock();
  const results: Record<string, boolean> = {};
  const log: string[] = [];
  const at = (): number => clock.monotonicMs() / 1_000;
  const startedAt = at();
  const probes = new Prober({
    container: { name: 'main', ...container },
    podIP: '127.0.0.1',
    clock,
    random: seededRandom(1),
    run: async ([name = '']) => ({ exitCode: results[name] ? 0 : 1, output: `${name} failed`, isTimeout: false }),
    onUnhealthy: (name, output) => log.push(`${at() - startedAt}: ${name}: ${output}`),
    onChange: () => log.push(`${at() - startedAt}: started ${probes.isStarted}, ready ${probes.isReady}`),
    onDead: (name) => log.push(`${at() - startedAt}: ${name} is dead`),
  });
  return { clock, results, log, probes };
}

const exec = (name: string, more: object = {}) => ({ exec: { command: [name] }, periodSeconds: 10, ...more });

test('a container without probes is started and ready at once', () => {
  const { probes } = prober({});
  assert.deepEqual([probes.isStarted, probes.isReady], [true, true]);
});

test('liveness and readiness begin after the startup probe, and readiness follows its thresholds', async () => {
  const { clock, results, log } = prober({
    startupProbe: exec('start', { failureThreshold: 3 }),
    livenessProbe: exec('live', { initialDelaySeconds: 5 }),
    readinessProbe: exec('ready', { successThreshold: 2, failureThreshold: 1 }),
  });
  results['live'] = true;
  await clock.advance(15_000);
  assert.deepEqual(log.splice(0), ['0: Startup: start failed', '10: Startup: start failed']);
  results['start'] = true;
  results['ready'] = true;
  await clock.advance(20_000);
  // Started at 20 s; the second success of readiness is at 30 s.
  assert.deepEqual(log.splice(0), ['20: started true, ready false', '30: started true, ready true']);
  results['ready'] = false;
  await clock.advance(10_000);
  assert.deepEqual(log.splice(0), ['40: Readiness: ready failed', '40: started true, ready false']);
});

test('a startup or liveness probe that fails as often as its threshold is reported once', async () => {
  const { clock, log } = prober({ livenessProbe: exec('live', { failureThreshold: 2 }) });
  await clock.advance(60_000);
  assert.deepEqual(log, ['0: Liveness: live failed', '10: Liveness: live failed', '10: Liveness is dead']);
});

test('network probes of a starting container are tried between their periods, and only their success counts', async () => {
  const clock = virtualClock();
  const startedAt = clock.monotonicMs();
  const at = (): number => clock.monotonicMs() - startedAt;
  const log: string[] = [];
  let answer: 'refused' | 'failed' | 'success' = 'refused';
  const attempts: number[] = [];
  const probes = new Prober({
    ...target(80),
    container: {
      name: 'main',
      startupProbe: { tcpSocket: { port: 80 }, periodSeconds: 10, failureThreshold: 3 },
      readinessProbe: { tcpSocket: { port: 80 }, periodSeconds: 10, failureThreshold: 1 },
    },
    clock,
    random: seededRandom(1),
    attempt: async () => {
      attempts.push(at());
      return { isSuccess: answer === 'success', output: answer, isRefused: answer === 'refused' };
    },
    onUnhealthy: (name, output) => log.push(`${at()}: ${name}: ${output}`),
    onChange: () => log.push(`${at()}: started ${probes.isStarted}, ready ${probes.isReady}`),
    onDead: (name) => log.push(`${at()}: ${name} is dead`),
  });
  await clock.advance(120);
  assert.deepEqual(attempts.splice(0), [0, 50, 100]);
  answer = 'failed';
  await clock.advance(500);
  assert.deepEqual(attempts.splice(0), [150, 400]);
  // Many failed attempts within a period are one failure.
  await clock.advance(18_000);
  assert.deepEqual(log.splice(0), ['0: Startup: refused', '10000: Startup: failed']);
  answer = 'success';
  await clock.advance(500);
  const [started, ready] = log.splice(0);
  assert.match(started!, /^18[6-9]\d\d: started true, ready false$/);
  assert.match(ready!, /^18[6-9]\d\d: started true, ready true$/);
  // A ready container is probed once per period.
  attempts.length = 0;
  await clock.advance(30_000);
  assert.equal(attempts.length, 3);
  answer = 'refused';
  await clock.advance(10_000);
  assert.match(log.splice(0).join(), /Readiness: refused,\d+: started true, ready false$/);
});

test('attempts between periods end a minute after the start', async () => {
  const clock = virtualClock();
  let attempts = 0;
  const probes = new Prober({
    ...target(80),
    container: { name: 'main', readinessProbe: { tcpSocket: { port: 80 }, periodSeconds: 10 } },
    clock,
    random: seededRandom(1),
    attempt: async () => ({ isSuccess: ++attempts < 0, output: '', isRefused: true }),
    onUnhealthy: () => {},
    onChange: () => {},
    onDead: () => {},
  });
  await clock.advance(70_000);
  attempts = 0;
  await clock.advance(100_000);
  assert.equal(attempts, 10);
  probes.close();
});

async function listening(context: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

const target = (port: number): ProbeTarget => ({
  container: { name: 'main', ports: [{ name: 'web', containerPort: port }] },
  podIP: '127.0.0.1',
  clock: systemClock,
  run: () => Promise.reject(new Error('not used')),
});

test('an HTTP probe succeeds with status 200 to 399, and sends its headers', async (context) => {
  const seen: string[] = [];
  const server = createHttp((request, response) => {
    seen.push(`${request.url} ${request.headers['x-check']}`);
    response.writeHead(Number(request.url!.slice(1))).end('text');
  });
  const port = await listening(context, server);
  const probe = (path: string, number: number | string = 'web') =>
    runProbe({ httpGet: { path, port: number, httpHeaders: [{ name: 'X-Check', value: 'a' }] } }, target(port), 60_000);
  assert.equal((await probe('/200')).isSuccess, true);
  assert.equal((await probe('302')).isSuccess, true);
  assert.deepEqual(await probe('/500'), { isSuccess: false, output: 'HTTP probe failed with statuscode: 500' });
  assert.deepEqual(seen, ['/200 a', '/302 a', '/500 a']);
  assert.deepEqual(await probe('/200', 'none'), { isSuccess: false, output: "couldn't find port: none" });
});

test('an HTTPS probe accepts any certificate, and its connections are not reused', async (context) => {
  const world = { clock: systemClock, random: seededRandom(1) };
  const authority = createAuthority('unknown', 1, world);
  const request = { commonName: 'other', usage: 'server', hosts: ['other.example.com'], days: 1 } as const;
  const { key, certificate: cert } = issueCertificate(authority, request, world);
  let connections = 0;
  const server = createHttps({ key, cert }, (_, response) => response.end('ok'));
  server.on('secureConnection', () => connections++);
  const port = await listening(context, server);
  for (let attempt = 0; attempt < 2; attempt++) {
    const result = await runProbe({ httpGet: { scheme: 'HTTPS', port } }, target(port), 60_000);
    assert.deepEqual(result, { isSuccess: true, output: '' });
  }
  assert.equal(connections, 2);
});

test('TCP and HTTP probes of a closed port fail with the message of the kubelet', async () => {
  const server = createTcp().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  assert.equal((await runProbe({ tcpSocket: { port } }, target(port), 60_000)).isSuccess, true);
  await new Promise((resolve) => server.close(resolve));
  const refused = `dial tcp 127.0.0.1:${port}: connect: connection refused`;
  assert.equal((await runProbe({ tcpSocket: { port } }, target(port), 60_000)).output, refused);
  const { output } = await runProbe({ httpGet: { path: '/', port } }, target(port), 60_000);
  assert.equal(output, `Get "http://127.0.0.1:${port}/": ${refused}`);
});

test('a gRPC probe reads the health of a service', async (context) => {
  const statuses: Record<string, number> = { '': 1, slow: 2 };
  const server = createHttp2();
  server.on('stream', (stream: ServerHttp2Stream) => {
    const parts: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => parts.push(chunk));
    stream.on('end', () => {
      const service = Buffer.concat(parts).subarray(7).toString();
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.from([0, 0, 0, 0, 2, 0x08, statuses[service] ?? 3]));
    });
  });
  const port = await listening(context, server as unknown as Server);
  const probe = (service?: string) =>
    runProbe({ grpc: service === undefined ? { port } : { port, service } }, target(port), 60_000);
  assert.equal((await probe()).isSuccess, true);
  assert.deepEqual(await probe('slow'), {
    isSuccess: false,
    output: 'service unhealthy (responded with "NOT_SERVING")',
  });
});
