/** Test fixture: the real konnectivity-server with one agent and a target, in a network that this machine cannot reach directly. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CleanupStack } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import { tool } from '../../../../../../tools/tool.ts';
import { world } from '../../../http/testing/test-port.ts';
import { PrivateNetwork } from '../../tunnel/testing/private-network.ts';

const targetProgram = fileURLToPath(new URL('../../tunnel/testing/target-program.ts', import.meta.url));
const serverPort = 8090;

export type EgressMode = 'http-connect over TCP' | 'http-connect over UDS' | 'grpc over UDS';

export interface KonnectivityServer extends AsyncDisposable {
  /** Path of an EgressSelectorConfiguration for it. */
  readonly config: string;
  readonly nodeAddress: string;
  /** Ports of the target: see `target-program.ts`. */
  readonly ports: { readonly echo: number; readonly source: number };
}

export async function startKonnectivityServer(mode: EgressMode): Promise<KonnectivityServer> {
  const [serverProgram, agentProgram] = [
    await tool('konnectivity-server', { log: console.error }),
    await tool('konnectivity-agent', { log: console.error }),
  ];
  await using opened = new CleanupStack();
  const folder = await mkdtemp(join(tmpdir(), 'hangar-egress-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const network = await PrivateNetwork.open();
  opened.defer(() => network[Symbol.asyncDispose]());
  const file = (name: string): string => join(folder, name);
  await writePairs(file, network.address);
  const isTcp = mode === 'http-connect over TCP';
  const [proxyMode] = mode.split(' ') as ['http-connect' | 'grpc'];
  const server = network.run(
    serverProgram,
    `--mode=${proxyMode}`,
    ...(isTcp
      ? [`--server-port=${serverPort}`, ...certificateFlags('server', file)]
      : ['--server-port=0', `--uds-name=${file('socket')}`]),
    ...certificateFlags('cluster', file),
    '--server-id=server-1',
  );
  await server.line(/Starting agent server/);
  const agent = network.run(
    agentProgram,
    '--proxy-server-host=127.0.0.1',
    `--ca-cert=${file('ca.crt')}`,
    `--agent-cert=${file('client.crt')}`,
    `--agent-key=${file('client.key')}`,
    '--sync-interval=100ms',
    '--sync-interval-cap=100ms',
    '--v=2',
  );
  const target = network.run(process.execPath, targetProgram, network.nodeAddress);
  const [, echo, source] = await target.line(/echo=(\d+) source=(\d+)/);
  await agent.line(/Start serving/);
  const tlsConfig = { caBundle: file('ca.crt'), clientCert: file('client.crt'), clientKey: file('client.key') };
  const transport = isTcp
    ? { tcp: { url: `https://${network.address}:${serverPort}`, tlsConfig } }
    : { uds: { udsName: file('socket') } };
  const connection = { proxyProtocol: proxyMode === 'grpc' ? 'GRPC' : 'HTTPConnect', transport };
  await writeFile(
    file('egress.yaml'),
    JSON.stringify({
      apiVersion: 'apiserver.k8s.io/v1beta1',
      kind: 'EgressSelectorConfiguration',
      egressSelections: [{ name: 'cluster', connection }],
    }),
  );
  const running = opened.move();
  return {
    config: file('egress.yaml'),
    nodeAddress: network.nodeAddress,
    ports: { echo: Number(echo), source: Number(source) },
    [Symbol.asyncDispose]: () => running.run(),
  };
}

async function writePairs(file: (name: string) => string, address: string): Promise<void> {
  const authority = createAuthority('konnectivity', 1, world);
  await writeFile(file('ca.crt'), authority.certificate);
  for (const usage of ['server', 'client'] as const) {
    const hosts = usage === 'server' ? ['127.0.0.1', address] : [];
    const pair = issueCertificate(authority, { commonName: usage, usage, hosts, days: 1 }, world);
    await writeFile(file(`${usage}.crt`), pair.certificate);
    await writeFile(file(`${usage}.key`), pair.key);
  }
}

const certificateFlags = (of: 'server' | 'cluster', file: (name: string) => string): string[] => [
  `--${of}-ca-cert=${file('ca.crt')}`,
  `--${of}-cert=${file('server.crt')}`,
  `--${of}-key=${file('server.key')}`,
];
