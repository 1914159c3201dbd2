import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { CliError } from '../errors.ts';
import { NodeNetwork } from '../machine/index.ts';
import { joinOf, machineNameservers } from './membership.ts';
import { allowedNumbers, contains, insistOnNetworks, insistOnReachable } from './networks.ts';
import { startPullProxy } from './pull-proxy.ts';
import {
  findState,
  freeIndex,
  freeName,
  insistOnState,
  isRunning,
  listStates,
  machineNames,
  writeState,
} from './state.ts';
import type { NodeState } from './state.ts';
import { supervise } from './supervise.ts';
import type { Exiting } from './supervise.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hangar-local-nodes-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const thrown = (work: () => void): CliError => {
  try {
    work();
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};

describe('the networks of a control plane', () => {
  const network = new NodeNetwork('bridge0', 0);
  const place = { controlPlane: 'demo', network, addresses: network.addressesOf(0) };
  const tenant = (spec: object, status = {}) => ({ metadata: {}, apiVersion: '', kind: '', spec, status });

  test('contain networks that are equal or smaller', () => {
    assert.ok(contains('10.0.0.0/8', '10.77.0.0/24'));
    assert.ok(contains('10.77.0.0/24', '10.77.0.0/24'));
    assert.ok(contains('0.0.0.0/0', '10.77.0.0/24'));
    assert.ok(!contains('10.77.0.0/25', '10.77.0.0/24'));
    assert.ok(!contains('10.78.0.0/16', '10.77.0.0/24'));
    assert.ok(!contains('fd00::/8', '10.77.0.0/24'));
    assert.ok(!contains('nonsense', '10.77.0.0/24'));
  });

  test('that contain the node and its pods are accepted', () => {
    insistOnNetworks(tenant({ nodes: { enabled: true, networks: ['10.77.0.0/24', '10.81.0.0/16'] } }), place);
  });

  test('that do not contain the pods are reported with a command that keeps the existing ones', () => {
    const spec = { nodes: { enabled: true, networks: ['192.0.2.0/24', '10.77.0.0/24'] } };
    const { message, next } = thrown(() =>
      insistOnNetworks(tenant(spec, { nodes: { serviceCIDR: '10.0.0.0/24' } }), place),
    );
    assert.match(message, /"demo" does not allow connections to the networks of this node: 10\.81\.0\.0\/24$/);
    const [, json] = /^kubectl patch controlplane demo --type merge -p '(.*)'$/m.exec(next!)!;
    const { networks } = (JSON.parse(json!) as { spec: { virtual: { nodes: { networks: string[] } } } }).spec.virtual
      .nodes;
    assert.deepEqual(networks.slice(0, 3), ['192.0.2.0/24', '10.77.0.0/24', '10.81.0.0/24']);
    assert.equal(networks.at(-1), '10.0.0.0/24');
  });

  test('are part of the command that enables nodes', () => {
    const { message, next } = thrown(() => insistOnNetworks(tenant({}), place));
    assert.equal(message, 'control plane "demo" does not accept nodes');
    assert.match(next!, /"enabled":true,"networks":\["10\.77\.0\.0\/24","10\.81\.0\.0\/24"/);
    assert.match(next!, /create NAME --node-networks 10\.77\.0\.0\/24,10\.81\.0\.0\/24/);
  });

  test('select the network of the node', () => {
    assert.deepEqual(allowedNumbers(tenant({})), []);
    const networks = ['10.81.3.0/24', '10.77.0.0/16', '10.77.255.0/24', '10.77.3.0/24', '10.77.4.0/24'];
    assert.deepEqual(allowedNumbers(tenant({ nodes: { enabled: true, networks } })), [3, 4]);
  });

  test('do not matter for a control plane at a loopback address, which nodes cannot reach', () => {
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
      const { message, next } = thrown(() => insistOnReachable('demo', `https://${host}:7500`));
      assert.match(message, /cannot reach control plane "demo"/);
      assert.match(next!, /up --listen 0\.0\.0\.0:6443/);
    }
    insistOnReachable('demo', 'https://10.1.2.3:7500');
  });
});

describe('the states of nodes', () => {
  const state = (name: string, index: number): NodeState => ({
    name,
    controlPlane: 'demo',
    folder: join(folder, 'nodes', name),
    cgroup: `hangar-node-${name}`,
    bridge: 'bridge0',
    networkNumber: 0,
    index,
    // A process that runs, but started at another time.
    supervisor: { pid: process.pid, startTicks: '0' },
    startedAt: 0,
  });

  test('are listed by name', async () => {
    assert.deepEqual(await listStates(folder), []);
    await writeState(folder, state('demo-2', 1));
    await writeState(folder, state('demo-1', 0));
    await mkdir(join(folder, 'nodes', 'empty'));
    assert.deepEqual(
      (await listStates(folder)).map(({ name }) => name),
      ['demo-1', 'demo-2'],
    );
  });

  test('of a process id that belongs to another process now are not running', () => {
    assert.equal(isRunning(state('demo-1', 0)), false);
  });

  test('give a new node the lowest free index, and a node that is started again its own', () => {
    const states = [state('demo-1', 0), state('demo-3', 2)];
    assert.equal(freeIndex('demo-2', states), 1);
    assert.equal(freeIndex('demo-1', states), 0);
  });

  test('that are not running do not keep their names', () => {
    assert.equal(freeName('demo', [state('demo-1', 0)]), 'demo-1');
  });

  test('that are damaged are reported, because they name files that are removed', async () => {
    await mkdir(join(folder, 'nodes', 'demo-1'), { recursive: true });
    await writeFile(join(folder, 'nodes', 'demo-1', 'node.json'), '{"name":"demo-1"}');
    await assert.rejects(findState(folder, 'demo-1'), /is not the state of a node/);
  });

  test('that do not exist are reported with the names that do', async () => {
    await writeState(folder, state('demo-1', 0));
    await assert.rejects(insistOnState(folder, 'demo'), (error: CliError) => {
      assert.equal(error.message, 'there is no node "demo" on this machine');
      assert.equal(error.next, 'nodes: demo-1');
      return true;
    });
  });

  test('have names on the machine that the kernel accepts and that differ between data directories', () => {
    const [one, other] = [machineNames('/a'), machineNames('/b')];
    assert.notEqual(one.bridge, other.bridge);
    assert.ok(`${one.bridge}-14`.length <= 15);
    assert.equal(one.cgroup('demo-1'), machineNames('/a').cgroup('demo-1'));
  });
});

describe('the settings of a node', () => {
  const material = {
    command: '',
    endpoint: 'https://10.1.2.3:7500',
    token: 'abcdef.0123456789abcdef',
    expires: '',
    caHash: '',
    ca: 'PEM\n',
    bootstrapKubeconfig: 'kind: Config\n',
    kubeletConfiguration: 'cgroupDriver: systemd\nclusterDNS:\n- 10.0.0.10\nclusterDomain: cluster.local\n',
  };

  test('keep the DNS of the control plane, and no setting for a machine with systemd', () => {
    const { configuration, clientAuthority } = joinOf(material, []);
    assert.deepEqual(configuration, { clusterDNS: ['10.0.0.10'], clusterDomain: 'cluster.local' });
    assert.equal(clientAuthority, 'PEM\n');
  });

  test('leave out DNS servers at loopback addresses', async () => {
    const [stub, real] = [join(folder, 'stub'), join(folder, 'real')];
    await writeFile(stub, 'nameserver 127.0.0.53\noptions edns0\n');
    await writeFile(real, '# comment\nnameserver 192.0.2.1\nnameserver 127.0.0.1\nnameserver 192.0.2.2\n');
    assert.deepEqual(await machineNameservers([join(folder, 'none'), stub, real]), ['192.0.2.1', '192.0.2.2']);
    assert.deepEqual(await machineNameservers([stub]), []);
  });
});

describe('supervision', () => {
  test('starts a program again when it exits or cannot start, until the signal', async () => {
    const stop = new AbortController();
    const lines: string[] = [];
    const exits: (() => void)[] = [];
    const program = (): Exiting => {
      const { promise, resolve } = Promise.withResolvers<number>();
      exits.push(() => resolve(1));
      return { exited: () => promise };
    };
    const third = Promise.withResolvers<void>();
    let starts = 0;
    const start = async (): Promise<Exiting> => {
      if (++starts === 1) throw new Error('no memory');
      third.resolve();
      return program();
    };
    const first = program();
    const ended = supervise([{ name: 'kubelet', program: first, start }], {
      signal: stop.signal,
      report: (line) => lines.push(line),
      delayMs: 0,
    });
    exits[0]!();
    await third.promise;
    stop.abort();
    await ended;
    assert.equal(starts, 2);
    assert.deepEqual(lines, ['kubelet exited with code 1, restarting', 'kubelet cannot start: no memory']);
  });
});

describe('the proxy for pulls', () => {
  async function asked(proxyUrl: string, target: string, password?: string): Promise<{ code: number; socket: Socket }> {
    const { hostname, port, username, password: own } = new URL(proxyUrl);
    const credentials = Buffer.from(`${username}:${password ?? own}`).toString('base64');
    const headers = { 'proxy-authorization': `Basic ${credentials}` };
    const asking = request({ host: hostname, port, method: 'CONNECT', path: target, headers });
    asking.end();
    const [response, socket] = (await once(asking, 'connect')) as [{ statusCode: number }, Socket];
    return { code: response.statusCode, socket };
  }

  test('connects a client that has the password', async () => {
    const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
    await once(echo, 'listening');
    try {
      await using proxy = await startPullProxy('127.0.0.1', () => false);
      const { code, socket } = await asked(proxy.url, `127.0.0.1:${(echo.address() as AddressInfo).port}`);
      assert.equal(code, 200);
      socket.write('hello');
      const [data] = (await once(socket, 'data')) as [Buffer];
      assert.equal(data.toString(), 'hello');
      socket.destroy();
    } finally {
      echo.close();
    }
  });

  test('refuses other clients, loopback addresses and invalid targets', async () => {
    await using proxy = await startPullProxy('127.0.0.1');
    const codes: number[] = [];
    for (const [target, password] of [
      ['192.0.2.1:443', 'wrong'],
      ['127.0.0.1:443', undefined],
      ['[::1]:443', undefined],
      ['0.0.0.0:443', undefined],
      ['nonsense', undefined],
    ] as const) {
      const { code, socket } = await asked(proxy.url, target, password);
      codes.push(code);
      socket.destroy();
    }
    assert.deepEqual(codes, [407, 403, 403, 403, 403]);
  });
});
