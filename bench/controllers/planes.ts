/**
 * The compared setups: a Hangar with its essential controllers in the same process, at its management plane and in a tenant; and the real
 * kube-controller-manager, on a bare Hangar and on the real kube-apiserver.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, defineKind } from '@hangar/client';
import type { Client } from '@hangar/client';
import { tool } from '../../tools/tool.ts';
import { startHangar, startKubernetes } from '../server/servers.ts';
import type { Server } from '../server/servers.ts';

export interface Plane {
  readonly name: string;
  readonly client: Client;
  readonly isOurs: boolean;
  /** Absent: no limit. */
  readonly roundsMax?: number;
}

export interface Setup extends AsyncDisposable {
  readonly planes: readonly Plane[];
}

/** Run one after the other, so that they do not affect each other. */
export const setups: Readonly<Record<string, () => Promise<Setup>>> = {
  async essential() {
    await using opened = new AsyncDisposableStack();
    const server = opened.use(stopped(await startHangar('embedded', { isWhole: true })));
    const root = opened.use(clientOf(server));
    await root.client.create(Tenant, { metadata: { name: 'bench' }, spec: {} });
    const tenant = opened.use(clientOf(server, '/clusters/bench/control-plane'));
    return withPlanes(opened, [
      { name: 'essential set, in a tenant', client: tenant.client, isOurs: true },
      { name: 'essential set, management plane', client: root.client, isOurs: true },
    ]);
  },
  managerOnHangar: () =>
    withManager({ name: 'kube-controller-manager on Hangar', start: () => startHangar('embedded') }),
  manager: () => withManager({ name: 'kube-controller-manager on kube-apiserver', start: startKubernetes }),
  // Takes a minute for each thousand requests: once is enough.
  managerAsInstalled: () =>
    withManager({ name: '… at its default of 20 requests a second', start: startKubernetes, flags: [], roundsMax: 1 }),
};

const Tenant = defineKind({
  apiVersion: 'tenancy.hangar.dev/v1alpha1',
  kind: 'Tenant',
  plural: 'tenants',
  isNamespaced: false,
});

interface ManagerOptions {
  readonly name: string;
  readonly start: () => Promise<Server>;
  readonly flags?: readonly string[];
  readonly roundsMax?: number;
}

/** Lifts its limit of 20 requests a second, which would dominate the measurement. */
const unlimited = ['--kube-api-qps=5000', '--kube-api-burst=5000'];

async function withManager({ name, start, flags = unlimited, ...more }: ManagerOptions): Promise<Setup> {
  const path = await tool('kube-controller-manager', { log: console.log });
  await using opened = new AsyncDisposableStack();
  const server = opened.use(stopped(await start()));
  const { client } = opened.use(clientOf(server));
  const folder = await mkdtemp(join(tmpdir(), 'hangar-bench-controllers-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, kubeconfigOf(server), { mode: 0o600 });
  const args = [`--kubeconfig=${kubeconfig}`, '--secure-port=0', '--leader-elect=false', ...flags];
  const child = spawn(path, args, { stdio: 'ignore' });
  opened.defer(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return withPlanes(opened, [{ name, client, isOurs: false, ...more }]);
}

const withPlanes = (opened: AsyncDisposableStack, planes: readonly Plane[]): Setup => {
  const kept = opened.move();
  return { planes, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};

const stopped = (server: Server): Server & AsyncDisposable => ({
  ...server,
  [Symbol.asyncDispose]: () => server.stop(),
});

function clientOf({ port, token }: Server, path = ''): { client: Client } & AsyncDisposable {
  const client = connect({
    server: `https://127.0.0.1:${port}${path}`,
    isInsecure: true,
    credentials: { headers: () => ({ authorization: `Bearer ${token}` }) },
  });
  return { client, [Symbol.asyncDispose]: () => client.close() };
}

const kubeconfigOf = ({ port, token }: Server): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'b', cluster: { server: `https://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'b', user: { token } }],
    contexts: [{ name: 'b', context: { cluster: 'b', user: 'b' } }],
    'current-context': 'b',
  });
