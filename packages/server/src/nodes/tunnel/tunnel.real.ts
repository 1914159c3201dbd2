import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createConnection } from 'node:net';
import { fileURLToPath } from 'node:url';
import { tool } from '../../../../../tools/tool.ts';
import { serving } from '../../http/testing/test-port.ts';
import { PrivateNetwork } from './testing/private-network.ts';
import type { NetworkProcess } from './testing/private-network.ts';
import { TunnelPort } from './testing/tunnel-port.ts';

/** Rejects if there is no route, or if the address does not answer. */
async function isReachable(host: string, port: number): Promise<void> {
  const socket = createConnection({ host, port });
  const timer = setTimeout(() => socket.destroy(new Error('no answer')), 300);
  try {
    await once(socket, 'connect');
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

async function stop({ child }: NetworkProcess): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

const targetProgram = fileURLToPath(new URL('./testing/target-program.ts', import.meta.url));

describe('the real konnectivity-agent, in a network that this machine cannot reach', () => {
  let folder: string;
  let network: PrivateNetwork;
  let program: string;
  let ports: { echo: number; source: number };

  before(async () => {
    program = await tool('konnectivity-agent', { log: console.error });
    folder = await mkdtemp(join(tmpdir(), 'hangar-tunnel-'));
    await writeFile(join(folder, 'ca.crt'), serving.certificate);
    await writeFile(join(folder, 'token'), 'agent');
    network = await PrivateNetwork.open();
    const [, echo, source] = await network
      .run(process.execPath, targetProgram, network.nodeAddress)
      .line(/echo=(\d+) source=(\d+)/);
    ports = { echo: Number(echo), source: Number(source) };
  });

  after(async () => {
    await network?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const startAgent = (port: TunnelPort, id: string, ...more: string[]): NetworkProcess =>
    network.run(
      program,
      `--proxy-server-host=${network.hostAddress}`,
      `--proxy-server-port=${port.port}`,
      `--ca-cert=${join(folder, 'ca.crt')}`,
      `--service-account-token-path=${join(folder, 'token')}`,
      `--agent-id=${id}`,
      '--v=4',
      ...more,
    );

  test('opens connections to its network, which carry bytes unchanged in both directions', async () => {
    await using port = await TunnelPort.open({ host: network.hostAddress });
    const agent = startAgent(port, 'a');
    await agent.line(/Start serving/);
    await assert.rejects(isReachable(network.nodeAddress, ports.echo));
    const connection = await port.tunnel.dial({ host: network.nodeAddress, port: ports.echo });
    const sent = randomBytes(5_000_000);
    const hash = createHash('sha256');
    let received = 0;
    const all = new Promise<void>((resolve) => {
      connection.on('data', (chunk: Buffer) => {
        hash.update(chunk);
        received += chunk.length;
        if (received >= sent.length) resolve();
      });
    });
    for (let at = 0; at < sent.length; at += 100_000) {
      if (!connection.write(sent.subarray(at, at + 100_000))) await once(connection, 'drain');
    }
    await all;
    assert.equal(hash.digest('hex'), createHash('sha256').update(sent).digest('hex'));
    const closed = once(connection, 'close');
    connection.end();
    await closed;
    assert.equal(port.tunnel.usage.connections, 0);
    assert.deepEqual(port.violations, []);
    await stop(agent);
  });

  test('opens many connections at once, and each ends with its target', async () => {
    await using port = await TunnelPort.open({ host: network.hostAddress });
    const agent = startAgent(port, 'a');
    await agent.line(/Start serving/);
    const lengths = await Promise.all(
      Array.from({ length: 50 }, async (_, at) => {
        const connection = await port.tunnel.dial({ host: network.nodeAddress, port: ports.source });
        connection.write(String(at * 10_000));
        return Buffer.concat(await connection.toArray()).length;
      }),
    );
    assert.deepEqual(
      lengths,
      Array.from({ length: 50 }, (_, at) => at * 10_000),
    );
    await stop(agent);
  });

  test('reports why it cannot connect', async () => {
    await using port = await TunnelPort.open({ host: network.hostAddress });
    const agent = startAgent(port, 'a');
    await agent.line(/Start serving/);
    await assert.rejects(port.tunnel.dial({ host: network.nodeAddress, port: 1 }), {
      code: 'Unreachable',
      message: `dial tcp ${network.nodeAddress}:1: connect: connection refused`,
    });
    await stop(agent);
  });

  test('is chosen by its node, and its connections end with it', async () => {
    await using port = await TunnelPort.open({ host: network.hostAddress });
    const own = `--agent-identifiers=ipv4=${network.nodeAddress}`;
    const agent = startAgent(port, 'of-node', own);
    using other = await port.agent({ id: 'other' });
    await agent.line(/Start serving/);
    const target = { host: network.nodeAddress, port: ports.echo };
    const connections = [await port.tunnel.dial(target), await port.tunnel.dial(target)];
    assert.deepEqual(other.packets, []);
    const errors = Promise.all(connections.map((one) => once(one, 'error')));
    agent.child.kill('SIGKILL');
    for (const [error] of await errors) assert.equal(error.message, 'konnectivity agent "of-node" disconnected');
  });

  test('connects again after the server ended its stream', async () => {
    const first = await TunnelPort.open({ host: network.hostAddress });
    const { port: number } = first;
    const agent = startAgent(
      first,
      'a',
      '--sync-interval=100ms',
      '--sync-interval-cap=100ms',
      '--probe-interval=100ms',
    );
    await agent.line(/Start serving/);
    await first[Symbol.asyncDispose]();
    await using second = await TunnelPort.open({ host: network.hostAddress, port: number, serverId: 'server-2' });
    await agent.line(/Start serving" serverID="server-2"/);
    const connection = await second.tunnel.dial({ host: network.nodeAddress, port: ports.echo });
    connection.write('again');
    assert.equal(String((await once(connection, 'data'))[0]), 'again');
    connection.destroy();
    await stop(agent);
  });
});
