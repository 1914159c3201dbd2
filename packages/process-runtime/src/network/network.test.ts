import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Pod, Service } from '@hangar/client/kinds/core-v1';
import { hasCode, Logger, systemClock } from '@hangar/core';
import { until } from '../testing/ground.ts';
import { AddressPool, defaultNetworks } from './addresses.ts';
import { formsOf, hostsFile } from './hosts.ts';
import { PodNetwork } from './network.ts';
import { backendsOf, nameTable, serviceVariables } from './service-table.ts';
import type { LocalPod } from './service-table.ts';

const service = (name: string, spec: NonNullable<Service['spec']>): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'team', name },
  spec,
});
/** Resolves with all that a server sends; '' when nothing listens. */
const textFrom = (host: string, port: number): Promise<string> =>
  new Promise((resolve) => {
    let text = '';
    const socket = connect({ host, port });
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.once('error', () => resolve(''));
    socket.once('close', () => resolve(text));
  });
const localPod = (name: string, address: string, more: Partial<LocalPod> & { port?: number } = {}): LocalPod => ({
  pod: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'team', name, labels: { app: 'web' } },
    spec: {
      hostname: name,
      subdomain: 'members',
      containers: [{ name: 'main', ports: [{ name: 'http', containerPort: more.port ?? 8080 }] }],
    },
  } satisfies Pod,
  address,
  isReady: more.isReady ?? true,
});

test('addresses are unique, are reused late, and stay inside their network', () => {
  const pool = new AddressPool('127.70.0.0/29');
  assert.equal(pool.reserve('127.70.0.2'), true);
  assert.equal(pool.reserve('127.70.0.2'), false);
  assert.equal(pool.reserve('127.71.0.2'), false);
  const taken = Array.from({ length: 5 }, () => pool.take());
  assert.deepEqual(taken, ['127.70.0.1', '127.70.0.3', '127.70.0.4', '127.70.0.5', '127.70.0.6']);
  assert.throws(
    () => pool.take(),
    (error) => hasCode(error, 'NoAddress'),
  );
  pool.release('127.70.0.4');
  assert.equal(pool.take(), '127.70.0.4');
  assert.throws(() => new AddressPool('10.0.0.0/16'), TypeError);
  assert.deepEqual(defaultNetworks('/a'), defaultNetworks('/a'));
  assert.doesNotThrow(() => new AddressPool(defaultNetworks('/a').services));
});

test('a Service selects ready pods by labels, and named target ports are those of the pod', () => {
  const pods = [localPod('a', '127.64.0.1'), localPod('b', '127.64.0.2', { isReady: false, port: 9090 })];
  const ports = [{ port: 80, targetPort: 'http' }];
  const web = service('web', { clusterIP: '10.96.0.5', selector: { app: 'web' }, ports });
  assert.deepEqual(backendsOf(web, ports[0]!, pods), [{ host: '127.64.0.1', port: 8080 }]);
  const all = service('web', { ...web.spec, publishNotReadyAddresses: true });
  assert.deepEqual(
    backendsOf(all, ports[0]!, pods).map(({ port }) => port),
    [8080, 9090],
  );
  assert.deepEqual(backendsOf(service('web', { ...web.spec, selector: { app: 'x' } }), ports[0]!, pods), []);
  assert.deepEqual(backendsOf(service('web', { clusterIP: '10.96.0.5' }), ports[0]!, pods), []);
});

test('pods of a headless Service have names, and the hosts file has all forms of a name', () => {
  const pods = [localPod('m-0', '127.64.0.1'), localPod('m-1', '127.64.0.2')];
  const members = service('members', { clusterIP: 'None', selector: { app: 'web' } });
  const names = nameTable([members], pods, () => undefined);
  assert.deepEqual(names.get('members.team'), ['127.64.0.1', '127.64.0.2']);
  assert.deepEqual(names.get('m-1.members.team'), ['127.64.0.2']);
  assert.deepEqual(formsOf('m-1.members.team', 'team'), [
    'm-1.members.team.svc.cluster.local',
    'm-1.members.team.svc',
    'm-1.members.team',
    'm-1.members',
  ]);
  const options = { namespace: 'other', hostname: 'h', subdomain: undefined, podIP: '127.64.0.9', aliases: [], names };
  const text = hostsFile(options);
  assert.match(text, /^127\.64\.0\.9\th$/m);
  assert.match(
    text,
    /^127\.64\.0\.2\tm-1\.members\.team\.svc\.cluster\.local\tm-1\.members\.team\.svc\tm-1\.members\.team$/m,
  );
});

test('variables of Services have the names of the kubelet', () => {
  const web = service('my-web', { clusterIP: '10.96.0.5', ports: [{ name: 'http', port: 80 }] });
  assert.deepEqual(
    serviceVariables([web], () => '127.128.0.1'),
    {
      MY_WEB_SERVICE_HOST: '127.128.0.1',
      MY_WEB_SERVICE_PORT: '80',
      MY_WEB_PORT: 'tcp://127.128.0.1:80',
      MY_WEB_SERVICE_PORT_HTTP: '80',
      MY_WEB_PORT_80_TCP: 'tcp://127.128.0.1:80',
      MY_WEB_PORT_80_TCP_PROTO: 'tcp',
      MY_WEB_PORT_80_TCP_PORT: '80',
      MY_WEB_PORT_80_TCP_ADDR: '127.128.0.1',
    },
  );
});

test('connections to a Service reach a ready pod, and its address survives a restart', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-network-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const server = createServer((socket) => socket.end('hello'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const options = {
    podNetwork: '127.77.0.0/16',
    serviceNetwork: '127.177.0.0/16',
    hostIP: '127.0.0.1',
    recordPath: join(folder, 'services.json'),
    isForwarding: true,
    apiServer: undefined,
    clock: systemClock,
    log: new Logger({ level: 'silent', format: 'text', clock: systemClock }),
    backendWaitMs: 0,
  };
  // A port that this process has on another address cannot be taken by a program that listens on all addresses.
  const web = service('web', {
    clusterIP: '10.96.0.5',
    selector: { app: 'web' },
    ports: [{ port, targetPort: port }],
  });
  const network = new PodNetwork(options);
  context.after(() => network.close());
  network.refresh([web], [localPod('a', '127.0.0.1')]);
  const address = network.addressOf(web)!;
  assert.match(address, /^127\.177\./);
  const read = () => textFrom(address, port);
  await until('the forwarder answers', async () => (await read()) === 'hello');
  network.refresh([web], [localPod('a', '127.0.0.1', { isReady: false })]);
  assert.equal(await read(), '');
  await network.close();

  const next = new PodNetwork(options);
  context.after(() => next.close());
  next.refresh([web], [localPod('a', '127.0.0.1')]);
  assert.equal(next.addressOf(web), address);
  next.refresh([], []);
  assert.equal(new PodNetwork(options).addressOf(web), '10.96.0.5');
});

test('a Service has its address before its first pod, and a connection waits for a ready pod', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-network-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const server = createServer((socket) => socket.end('late'));
  server.listen(0, '127.90.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const network = new PodNetwork({
    podNetwork: '127.90.0.0/16',
    serviceNetwork: '127.190.0.0/16',
    hostIP: '127.0.0.1',
    recordPath: join(folder, 'services.json'),
    isForwarding: true,
    apiServer: undefined,
    clock: systemClock,
    log: new Logger({ level: 'silent', format: 'text', clock: systemClock }),
    // Longer than the test.
    backendWaitMs: 600_000,
  });
  context.after(() => network.close());
  const web = service('web', { clusterIP: '10.96.0.5', selector: { app: 'web' }, ports: [{ port }] });
  const other = localPod('client', '127.90.0.9');
  other.pod.metadata.labels = {};
  network.refresh([web], [other]);
  const address = network.addressOf(web)!;
  assert.match(address, /^127\.190\./);
  assert.deepEqual(network.names.get('web.team'), [address]);
  const connected = await until(
    'a connection',
    () =>
      new Promise<Socket | undefined>((resolve) => {
        const socket = connect({ host: address, port });
        socket.once('error', () => resolve(undefined));
        socket.once('connect', () => resolve(socket));
      }),
  );
  const [text] = await Promise.all([
    once(connected, 'data').then(([chunk]) => String(chunk)),
    network.refresh([web], [other, localPod('a', '127.90.0.1', { port })]),
  ]);
  assert.equal(text, 'late');
});

test('a host port is forwarded to its pod, and a LoadBalancer Service gets its address until it has it', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-network-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const server = createServer((socket) => socket.end('pod'));
  server.listen(0, '127.88.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const published: string[] = [];
  const failures: string[] = [];
  const network = new PodNetwork({
    podNetwork: '127.88.0.0/16',
    serviceNetwork: '127.188.0.0/16',
    hostIP: '127.88.1.1',
    recordPath: join(folder, 'services.json'),
    isForwarding: true,
    apiServer: undefined,
    clock: systemClock,
    log: new Logger({ level: 'silent', format: 'text', clock: systemClock }),
    onLoadBalancer: ({ metadata }, address) => published.push(`${metadata.name} ${address}`),
    onPortInUse: (object, note) => failures.push(`${object.metadata.name}: ${note}`),
  });
  context.after(() => network.close());
  const local = localPod('a', '127.88.0.1', { port });
  local.pod.spec!.containers[0]!.ports![0]!.hostPort = port;
  const balanced = service('lb', {
    type: 'LoadBalancer',
    clusterIP: '10.96.0.9',
    selector: { app: 'web' },
    ports: [{ port }],
  });
  const other = service('other', { ...balanced.spec!, loadBalancerClass: 'example.com/other' });
  network.refresh([balanced, other], [local]);
  const address = network.addressOf(balanced)!;
  assert.deepEqual(published.splice(0), [`lb ${address}`]);
  network.refresh([{ ...balanced, status: { loadBalancer: { ingress: [{ ip: address }] } } }], [local]);
  assert.deepEqual(published, []);
  const text = () => textFrom('127.88.1.1', port);
  await until('the host port', async () => (await text()) === 'pod');

  // A second pod with the same host port is reported, and gets it when it is free.
  const second = localPod('b', '127.88.0.1', { port });
  second.pod.metadata.uid = 'b';
  second.pod.spec!.containers[0]!.ports![0]!.hostPort = port;
  network.refresh([], [local, second]);
  await until('the failure', () => failures.length === 1);
  assert.match(failures[0]!, /^b: failed to listen on 127\.88\.1\.1:\d+: listen EADDRINUSE/);
  network.refresh([], [second]);
  await until('the freed port', async () => (await text()) === 'pod');
});

test('external addresses serve node ports, host ports and LoadBalancer Services, whose addresses precede their pods', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-network-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const server = createServer((socket) => socket.end('pod'));
  server.listen(0, '127.89.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const published: string[] = [];
  const failures: string[] = [];
  const network = new PodNetwork({
    podNetwork: '127.89.0.0/16',
    serviceNetwork: '127.189.0.0/16',
    hostIP: '127.89.1.1',
    externalAddresses: ['127.89.1.2'],
    loadBalancerAddresses: ['127.89.2.1'],
    recordPath: join(folder, 'services.json'),
    isForwarding: true,
    apiServer: undefined,
    clock: systemClock,
    log: new Logger({ level: 'silent', format: 'text', clock: systemClock }),
    onLoadBalancer: ({ metadata }, address) => published.push(`${metadata.name} ${address}`),
    onNoAddress: ({ metadata }, note) => failures.push(`${metadata.name}: ${note}`),
  });
  context.after(() => network.close());
  const spec = { type: 'LoadBalancer', clusterIP: '10.96.0.9', selector: { app: 'web' } } as const;
  const lb = service('lb', { ...spec, ports: [{ port, nodePort: port }] });
  const second = service('second', { ...spec, ports: [{ port }] });
  network.refresh([lb, second], []);
  assert.deepEqual(published, ['lb 127.89.2.1']);
  const reason = 'no address of the pool has all ports of the Service free';
  assert.deepEqual(failures, [`second: Failed to allocate IP for "team/second": ${reason}`]);
  network.refresh([{ ...lb, status: { loadBalancer: { ingress: [{ ip: '127.89.2.1' }] } } }], []);
  assert.equal(published.length, 1);
  network.refresh([lb], [localPod('a', '127.89.0.1', { port })]);
  // Pods use the address of the Service.
  assert.match(network.addressOf(lb)!, /^127\.189\./);
  for (const host of ['127.89.2.1', '127.89.1.1', '127.89.1.2', network.addressOf(lb)!])
    await until(`port ${port} of ${host}`, async () => (await textFrom(host, port)) === 'pod');
});
