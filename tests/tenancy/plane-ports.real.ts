/** Two Hangars on one etcd serve the port of a control plane with nodes, each on its own address. */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startEtcd } from '../../packages/store/src/drivers/etcd/testing/etcd-process.ts';
import { startHangar } from '../conformance/servers/index.ts';
import { Access } from './testing/access.ts';
import type { Data } from './testing/access.ts';
import { eventually, tenant, tenants } from './testing/hangars.ts';

const slice = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes';
const addresses = ['127.0.0.1', '127.0.0.2'] as const;
/** Longer than the lease of an address. */
const expiredMs = 40_000;

test('both servers open the port, and the service kubernetes has the addresses of those that run', async () => {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'hangar-plane-ports-'));
  started.defer(() => rm(folder, { recursive: true, force: true }));
  const etcd = await startEtcd({ unsafeNoFsync: true });
  started.defer(() => etcd.stop());
  const first = 20_000 + 100 * (process.pid % 90);
  const servers = [];
  for (const address of addresses) {
    const server = await startHangar([
      '--store=etcd',
      `--etcd-endpoints=${etcd.endpoints[0]}`,
      `--data-dir=${folder}/data`,
      '--external-url=https://hangar.test:6443',
      `--listen=${address}:0`,
      ...addresses.map((one) => `--host=${one}`),
      `--plane-port-range=${first}-${first + 99}`,
    ]);
    started.defer(() => server.stop());
    servers.push(server);
  }
  const roots = await Promise.all(servers.map(({ kubeconfig }) => Access.of(kubeconfig)));
  for (const root of roots) started.defer(() => root[Symbol.dispose]());
  const { status } = (await roots[0]!.create(tenants, tenant('red', { nodes: { enabled: true } }))) as Data;
  const { port, caBundle, endpoint } = status.nodes;
  assert.equal(endpoint, `https://hangar.test:${port}`);
  const issued = (await roots[0]!.create(`${tenants}/red/kubeconfig`, {})) as Data;
  const admin = Access.from(issued.status.kubeconfig);
  started.defer(() => admin[Symbol.dispose]());
  const ca = Buffer.from(caBundle, 'base64');
  const at = (address: string) => new Access({ ...admin.credentials, ca, url: `https://${address}:${port}` });
  const seen = async (address: string): Promise<string> => {
    using access = at(address);
    const { endpoints, ports } = (await access.get(slice)) as Data;
    assert.equal(ports[0].port, port);
    return endpoints.map((one: Data) => one.addresses[0]).join();
  };
  const untilSeen = (address: string, expected: string, withinMs?: number) =>
    eventually(`${address} has ${expected}`, async () => (await seen(address).catch(() => '')) === expected, withinMs);
  for (const address of addresses) await untilSeen(address, addresses.join());
  await servers[1]!.crash();
  await untilSeen(addresses[0], addresses[0], expiredMs);
});
