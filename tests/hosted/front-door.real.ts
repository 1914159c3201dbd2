/**
 * The program `hangar front-door` in front of two HostedControlPlanes on the process runtime: real API servers, kubectl and the real
 * konnectivity agent at one address. Its host names are not in DNS.
 */

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import * as tls from 'node:tls';
import { promisify } from 'node:util';
import { Pod, Secret } from '@hangar/client/kinds/core-v1';
import { proxyHeader } from '@hangar/front-door';
import { isConditionTrue } from '@hangar/runtime';
import { HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import { freePorts } from '../../tools/free-ports.ts';
import { tool } from '../../tools/tool.ts';
import { Kubectl } from '../nodes/testing/kubectl.ts';
import { Session } from '../nodes/testing/session.ts';
import { until } from '../process-runtime/testing/until.ts';
import { startFrontDoorProcess } from './testing/operator-process.ts';
import type { FrontDoorProcess } from './testing/operator-process.ts';
import { namespace, ProcessCluster } from './testing/process-cluster.ts';

const domain = 'hosted.test';
const names = ['demo', 'other'] as const;
const hostOf = (name: string): string => `${name}.${namespace}.${domain}`;

describe('hangar front-door', () => {
  const opened = new AsyncDisposableStack();
  const kubectls = new Map<string, Kubectl>();
  let folder: string;
  let port: number;
  let cluster: ProcessCluster;
  let door: FrontDoorProcess;
  const kubectl = (name: (typeof names)[number]): Kubectl => kubectls.get(name)!;
  const logs = (): string => door.lines.join('\n');

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hangar-front-door-'));
    opened.defer(() => rm(folder, { recursive: true, force: true }));
    [port = 0] = await freePorts(1);
    const images = { 'proxy-server': await tool('konnectivity-server', { log: console.log }) };
    const address = { host: '127.0.0.1', port };
    cluster = opened.use(await ProcessCluster.start({ images, frontDoor: { domains: [domain], port, address } }));
    const args = [`--domain=${domain}`, '--drain-timeout=1', '--log-format=text'];
    door = await startFrontDoorProcess({ kubeconfig: cluster.kubeconfig, port, args });
    opened.defer(async () => void (await door.stop()));
    for (const name of names) {
      await cluster.client.create(HostedControlPlane, {
        metadata: { namespace, name },
        spec: {
          version: 'v1.36.4',
          replicas: 1,
          frontDoor: {},
          kubeProxy: { disabled: true },
          ...(name === 'demo' ? { konnectivityClient: {} } : {}),
        },
      });
    }
    for (const name of names) {
      const isReady = async (): Promise<boolean> => {
        const { status } = await cluster.client.get(HostedControlPlane, { namespace, name });
        return isConditionTrue(status?.conditions, 'Ready');
      };
      const describeAll = async (): Promise<string> =>
        `${JSON.stringify((await cluster.client.get(HostedControlPlane, { namespace, name })).status)}\n${logs()}`;
      await until(`${name} is ready`, isReady, describeAll);
      const { data } = await cluster.client.get(Secret, { namespace, name: `${name}-kubeconfig` });
      const file = join(folder, `${name}.kubeconfig`);
      await writeFile(file, Buffer.from(data!['value']!, 'base64'), { mode: 0o600 });
      kubectls.set(name, await Kubectl.of(file));
    }
  });
  after(() => opened.disposeAsync());

  test('kubectl works on both control planes through one address', async () => {
    for (const name of names) {
      const { spec } = await cluster.client.get(HostedControlPlane, { namespace, name });
      assert.deepEqual(spec.controlPlaneEndpoint, { host: hostOf(name), port });
      await kubectl(name).run('create', 'namespace', `only-${name}`);
      assert.equal(await kubectl(name).run('get', '--raw=/readyz'), 'ok');
    }
    assert.match(await kubectl('demo').run('get', 'namespaces', '--output=name'), /only-demo/);
    assert.doesNotMatch(await kubectl('demo').run('get', 'namespaces', '--output=name'), /only-other/);
  });

  test('the server name selects the control plane, and credentials of another one are refused', async () => {
    const wrongName = `--tls-server-name=${hostOf('other')}`;
    await assert.rejects(
      kubectl('demo').run('get', 'namespaces', wrongName),
      /x509: certificate signed by unknown authority/,
    );
    const socket = tls.connect({ host: '127.0.0.1', port, servername: hostOf('other'), rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const certificate = socket.getPeerX509Certificate()!;
    socket.destroy();
    assert.equal(certificate.checkHost(hostOf('other')), hostOf('other'));
    assert.equal(certificate.checkHost(hostOf('demo')), undefined);
    // An API server does not accept client certificates of another authority.
    const { data } = await cluster.client.get(Secret, { namespace, name: 'other-ca' });
    const other = join(folder, 'other-ca.crt');
    await writeFile(other, Buffer.from(data!['tls.crt']!, 'base64'));
    const refused = kubectl('demo').run('get', 'namespaces', wrongName, `--certificate-authority=${other}`);
    await assert.rejects(refused, /Unauthorized|must be logged in|Forbidden/);
  });

  test('unknown names and requests without TLS are refused clearly', async () => {
    const unknown = kubectl('demo').run('get', 'namespaces', '--tls-server-name=unknown.hosted.test');
    await assert.rejects(unknown, /tls: unrecognized name/);
    const { stdout } = await promisify(execFile)(
      'openssl',
      ['s_client', '-connect', `127.0.0.1:${port}`, '-noservername'],
      {
        timeout: 10_000,
      },
    ).catch((error: { stdout: string; stderr: string }) => ({ stdout: `${error.stdout}${error.stderr}` }));
    assert.match(stdout, /unrecognized name/);
    const plain = connect({ host: '127.0.0.1', port });
    plain.write('GET /version HTTP/1.1\r\nHost: demo\r\n\r\n');
    const [chunk] = (await once(plain, 'data')) as [Buffer];
    plain.destroy();
    assert.equal(String(chunk), 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n');
  });

  test('a watch and new clients are not affected by half-open connections', async () => {
    const watch = ['get', 'configmaps', '--watch', '--output=name'];
    await using session = new Session(kubectl('demo').start(...watch));
    await session.until(/configmap\/kube-root-ca\.crt/);
    const sockets: Socket[] = [];
    await using attack = new AsyncDisposableStack();
    attack.defer(() => sockets.forEach((socket) => socket.destroy()));
    for (let i = 0; i < 600; i++) {
      const socket = connect({ host: '127.0.0.1', port });
      sockets.push(socket.on('error', () => undefined));
      // The start of a ClientHello, and nothing after it.
      if (i % 2 === 0) socket.write(Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]));
    }
    await until('the handshakes of the source are limited', async () => {
      const text = await (await fetch(`http://127.0.0.1:${door.ports.metrics}/metrics`)).text();
      return /handshake_failures_total\{reason="handshake-limit"\} [1-9]/.test(text);
    });
    await kubectl('demo').run('create', 'configmap', 'during-the-attack');
    assert.equal(await kubectl('other').run('get', '--raw=/readyz'), 'ok');
    await session.until(/configmap\/during-the-attack/);
  });

  test('a konnectivity agent connects to the same port', async () => {
    const audience = '--audience=system:konnectivity-server';
    const account = ['konnectivity-agent', '--namespace=kube-system'];
    const token = await kubectl('demo').run('create', 'token', ...account, audience);
    const { data } = await cluster.client.get(Secret, { namespace, name: 'demo-ca' });
    const [hosts, ca, tokenFile] = ['hosts', 'ca.crt', 'token'].map((name) => join(folder, name));
    await writeFile(hosts!, `127.0.0.1 localhost konnectivity.${hostOf('demo')}\n`);
    await writeFile(ca!, Buffer.from(data!['tls.crt']!, 'base64'));
    await writeFile(tokenFile!, token.trim(), { mode: 0o600 });
    const [health = 0, admin = 0] = await freePorts(2);
    const agent = [
      await tool('konnectivity-agent', { log: console.log }),
      `--proxy-server-host=konnectivity.${hostOf('demo')}`,
      `--proxy-server-port=${port}`,
      `--ca-cert=${ca}`,
      `--service-account-token-path=${tokenFile}`,
      `--health-server-port=${health}`,
      `--admin-server-port=${admin}`,
    ];
    // The agent has no flag for a server name that is not in DNS: it gets its own file of hosts.
    const script = 'mount --bind "$0" /etc/hosts && exec "$@"';
    const child = spawn('unshare', ['--mount', 'sh', '-c', script, hosts!, ...agent], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    await using session = new Session(child);
    const isReady = async (): Promise<boolean> => {
      const response = await fetch(`http://127.0.0.1:${health}/readyz`).catch(() => undefined);
      return response?.status === 200;
    };
    await until('the agent is connected', isReady, () => `${session.errors}\n${logs()}`);
  });

  test('a backend gets the address of the client in a PROXY protocol header, and a drain reaches its deadline', async () => {
    await using stack = new AsyncDisposableStack();
    const received = Promise.withResolvers<Buffer>();
    const server = createServer((socket) => {
      stack.defer(() => void socket.destroy());
      socket.on('error', () => undefined).once('data', received.resolve);
    });
    stack.defer(() => void server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await createBackend((server.address() as AddressInfo).port);
    // No kubelet confirms that it has stopped.
    stack.defer(() =>
      cluster.client.delete(Pod, { namespace, name: 'proxied' }, { gracePeriodSeconds: 0 }).then(() => {}),
    );
    const [listen = 0] = await freePorts(1);
    const args = ['--backend-proxy-protocol=v2', '--drain-timeout=1'];
    const other = await startFrontDoorProcess({ kubeconfig: cluster.kubeconfig, port: listen, args });
    stack.defer(async () => void (await other.stop()));
    await until('it is ready', async () => {
      const response = await fetch(`http://127.0.0.1:${other.ports.health}/readyz`).catch(() => undefined);
      return response?.status === 200;
    });
    const client = tls.connect({ host: '127.0.0.1', port: listen, servername: hostOf('proxied') });
    stack.defer(() => void client.on('error', () => undefined).destroy());
    const bytes = await received.promise;
    const source = { address: '127.0.0.1', port: client.localPort! };
    const expected = proxyHeader(
      'v2',
      { source, destination: { address: '127.0.0.1', port: listen } },
      hostOf('proxied'),
    );
    assert.deepEqual(bytes.subarray(0, expected.length), expected);
    assert.equal(bytes[expected.length], 22);
    // The connection stays open: the drain reaches its deadline.
    client.on('error', () => undefined);
    assert.equal(await other.stop(), 0);
  });

  /** Creates a paused control plane with a route to a server of this test, as the operator and a kubelet would report it. */
  async function createBackend(containerPort: number): Promise<void> {
    const { client } = cluster;
    const key = { namespace, name: 'proxied' };
    const annotations = { 'cluster.x-k8s.io/paused': 'true' };
    await client.create(HostedControlPlane, {
      metadata: { ...key, annotations },
      spec: { version: 'v1.36.4', frontDoor: {} },
    });
    const body = { status: { frontDoor: { host: hostOf('proxied') } } };
    await client.status.patch(HostedControlPlane, key, { type: 'merge', body });
    const labels = { 'cluster.x-k8s.io/cluster-name': 'proxied', 'app.kubernetes.io/component': 'kube-apiserver' };
    const ports = [{ name: 'api', containerPort }];
    const containers = [{ name: 'test', image: 'example.com/test:1', ports }];
    // No kubelet runs it, so its status stays as it is set here.
    await client.create(Pod, { metadata: { ...key, labels }, spec: { nodeName: 'no-such-node', containers } });
    const conditions = [{ type: 'Ready', status: 'True' }];
    const status = { podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }], conditions };
    await client.status.patch(Pod, key, { type: 'merge', body: { status } });
  }
});
