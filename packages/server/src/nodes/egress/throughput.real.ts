/** Prints the throughput of the built-in tunnel beside that of the real konnectivity-server, with the same agent and the same target. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import { tool } from '../../../../../tools/tool.ts';
import { serving } from '../../http/testing/test-port.ts';
import type { NodeDialer } from '../dialer.ts';
import { PrivateNetwork } from '../tunnel/testing/private-network.ts';
import { TunnelPort } from '../tunnel/testing/tunnel-port.ts';
import { readEgress } from './index.ts';
import { startKonnectivityServer } from './testing/konnectivity-server.ts';

const bytes = 64 * 1024 * 1024;
const roundTrips = 300;
const tries = 3;
const targetProgram = fileURLToPath(new URL('../tunnel/testing/target-program.ts', import.meta.url));

interface Ports {
  readonly echo: number;
  readonly source: number;
}

interface Figures {
  /** MiB/s from the target, and to the target and back. */
  readonly down: number;
  readonly both: number;
  /** Milliseconds. */
  readonly roundTrip: number;
  readonly dial: number;
}

async function measured(dialer: NodeDialer, host: string, ports: Ports): Promise<Figures> {
  const rate = (ms: number): number => bytes / 1024 / 1024 / (ms / 1_000);
  const best = async (act: () => Promise<number>): Promise<number> => {
    const all: number[] = [];
    for (let i = 0; i < tries; i++) all.push(await act());
    return Math.min(...all);
  };
  return {
    down: rate(await best(() => downMs(dialer, host, ports.source))),
    both: rate(await best(() => bothMs(dialer, host, ports.echo))),
    ...(await roundTripMs(dialer, host, ports.echo)),
  };
}

async function downMs(dialer: NodeDialer, host: string, port: number): Promise<number> {
  const connection = await dialer.dial({ host, port });
  const beganMs = performance.now();
  connection.write(String(bytes));
  let received = 0;
  for await (const chunk of connection as AsyncIterable<Buffer>) received += chunk.length;
  assert.equal(received, bytes);
  return performance.now() - beganMs;
}

async function bothMs(dialer: NodeDialer, host: string, port: number): Promise<number> {
  const connection = await dialer.dial({ host, port });
  const beganMs = performance.now();
  let received = 0;
  const all = new Promise<void>((resolve) =>
    connection.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received >= bytes) resolve();
    }),
  );
  const piece = Buffer.alloc(64 * 1024);
  for (let sent = 0; sent < bytes; sent += piece.length) {
    if (!connection.write(piece)) await once(connection, 'drain');
  }
  await all;
  connection.destroy();
  return performance.now() - beganMs;
}

async function roundTripMs(
  dialer: NodeDialer,
  host: string,
  port: number,
): Promise<{ roundTrip: number; dial: number }> {
  const dialedMs = performance.now();
  const connection = await dialer.dial({ host, port });
  const dial = performance.now() - dialedMs;
  const beganMs = performance.now();
  for (let i = 0; i < roundTrips; i++) {
    connection.write('x');
    await once(connection, 'data');
  }
  const roundTrip = (performance.now() - beganMs) / roundTrips;
  connection.destroy();
  return { roundTrip, dial };
}

async function builtIn(): Promise<Figures> {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-tunnel-'));
  try {
    await using network = await PrivateNetwork.open();
    await writeFile(join(folder, 'ca.crt'), serving.certificate);
    await writeFile(join(folder, 'token'), 'agent');
    await using port = await TunnelPort.open({ host: network.hostAddress });
    const agent = network.run(
      await tool('konnectivity-agent', { log: console.error }),
      `--proxy-server-host=${network.hostAddress}`,
      `--proxy-server-port=${port.port}`,
      `--ca-cert=${join(folder, 'ca.crt')}`,
      `--service-account-token-path=${join(folder, 'token')}`,
      '--v=2',
    );
    const target = network.run(process.execPath, targetProgram, network.nodeAddress);
    const [, echo, source] = await target.line(/echo=(\d+) source=(\d+)/);
    await agent.line(/Start serving/);
    return await measured(port.tunnel, network.nodeAddress, { echo: Number(echo), source: Number(source) });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function real(): Promise<Figures> {
  await using server = await startKonnectivityServer('http-connect over UDS');
  const dialer = (await readEgress(server.config, systemClock))!;
  return await measured(dialer, server.nodeAddress, server.ports);
}

test('throughput of the built-in tunnel beside the real konnectivity-server', async () => {
  const rows: [string, Figures][] = [
    ['built-in tunnel', await builtIn()],
    ['konnectivity-server, HTTPConnect over UDS', await real()],
  ];
  const head = ['through', 'from target, MiB/s', 'echo, MiB/s', 'round trip, ms', 'dial, ms'];
  const lines = rows.map(([name, { down, both, roundTrip, dial }]) =>
    [name, down.toFixed(0), both.toFixed(0), roundTrip.toFixed(2), dial.toFixed(1)].join(' | '),
  );
  console.log([head.join(' | '), ...lines].join('\n'));
});
