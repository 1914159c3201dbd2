/** Measures alternatives that provide a separate Kubernetes API, each real and as in production: the same question, the same machine. */

import { randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { etcdArguments, etcdUrl, kubernetesArguments, writeCredentials } from '@hangar/api/testing';
import { freePorts } from '../../tools/free-ports.ts';
import { Processes } from '../../tests/conformance/servers/processes.ts';
import { tool } from '../../tools/tool.ts';
import { Connection } from '../server/connection.ts';
import { cpuMs } from '../server/processes.ts';
import { proportionalMiB } from './footprint.ts';

export interface Alternative {
  readonly name: string;
  /** Of each tenant, until it answered `get namespaces`. */
  readonly readyMs: readonly number[];
  /** Before the first tenant. */
  readonly baseMiB: number;
  /** For one more tenant. */
  readonly tenantMiB: number;
  /** To make one, of all processes. */
  readonly createCpuMs: number;
}

const pollMs = 10;
/** Memory and CPU of a start have settled after this time. */
const settleMs = 15_000;

/** One kube-apiserver for each tenant, on one etcd, each with its own prefix. */
export async function serverPerTenant(count: number): Promise<Alternative> {
  const [etcd, server] = [await tool('etcd'), await tool('kube-apiserver')];
  return Processes.start('tenants-kubernetes', async (processes) => {
    try {
      const [clientPort, peerPort] = await freePorts(2);
      const place = { folder: processes.folder, clientPort: clientPort!, peerPort: peerPort! };
      const store = processes.run(etcd, etcdArguments(place));
      await sleep(3_000);
      const baseMiB = proportionalMiB(store.pid!);
      const token = randomUUID();
      const readyMs: number[] = [];
      const pids: number[] = [];
      for (let n = 0; n < count; n++) {
        const folder = join(processes.folder, `tenant-${n}`);
        await mkdir(folder);
        await writeCredentials(folder, [{ token, user: 'admin', groups: ['system:masters'] }]);
        const [port] = await freePorts(1);
        const begun = performance.now();
        const child = processes.run(
          server,
          kubernetesArguments({ folder, etcdUrl: etcdUrl(place), port: port! }, [
            '--authorization-mode=RBAC',
            `--etcd-prefix=/registry/tenant-${n}`,
          ]),
        );
        await answers(port!, token, '/readyz', '/api/v1/namespaces');
        readyMs.push(performance.now() - begun);
        pids.push(child.pid!);
      }
      const createCpuMs = cpuMs(pids) / count;
      await sleep(settleMs);
      const tenantMiB =
        (pids.reduce((sum, pid) => sum + proportionalMiB(pid), 0) + proportionalMiB(store.pid!) - baseMiB) / count;
      return { name: 'one kube-apiserver for each, on one etcd', readyMs, baseMiB, tenantMiB, createCpuMs };
    } finally {
      await processes.stop();
    }
  });
}

/** Workspaces of one kcp with its embedded etcd. `idleMs`: its heap shrinks within two minutes. */
export async function kcpWorkspaces(count: number, idleMs: number): Promise<Alternative> {
  const program = await tool('kcp', { log: console.log });
  return Processes.start('tenants-kcp', async (processes) => {
    try {
      const [port, clientPort, peerPort] = await freePorts(3);
      const folder = join(processes.folder, 'kcp');
      const child = processes.run(program, [
        'start',
        `--root-directory=${folder}`,
        '--bind-address=127.0.0.1',
        '--external-hostname=127.0.0.1',
        `--secure-port=${port}`,
        `--embedded-etcd-client-port=${clientPort}`,
        `--embedded-etcd-peer-port=${peerPort}`,
      ]);
      await processes.until(async () => (await statusOf(port!, '', '/readyz')) === 200);
      const token = await tokenOf(join(folder, 'admin.kubeconfig'));
      // The first ones load code and data that the others share.
      for (let n = 0; n < warmUps; n++) await workspace(port!, token, `warm-${n}`);
      await sleep(idleMs);
      const [baseMiB, cpuBefore] = [proportionalMiB(child.pid!), cpuMs([child.pid!])];
      const readyMs: number[] = [];
      const begun = performance.now();
      for (let n = 0; n < count; n++) readyMs.push(await workspace(port!, token, `tenant-${n}`));
      await sleep(idleMs);
      const elapsedMs = performance.now() - begun;
      const cpuOfAll = cpuMs([child.pid!]) - cpuBefore;
      const tenantMiB = (proportionalMiB(child.pid!) - baseMiB) / count;
      // Its base CPU usage is subtracted.
      const idleBefore = cpuMs([child.pid!]);
      await sleep(idleMs);
      const idleShare = (cpuMs([child.pid!]) - idleBefore) / idleMs;
      const createCpuMs = Math.max(0, cpuOfAll - idleShare * elapsedMs) / count;
      return { name: 'kcp workspaces', readyMs, baseMiB, tenantMiB, createCpuMs };
    } finally {
      await processes.stop();
    }
  });
}

const warmUps = 3;

async function tokenOf(kubeconfig: string): Promise<string> {
  const text = await readFile(kubeconfig, 'utf8');
  return /name: kcp-admin\n\s+user:\n\s+token: (\S+)/.exec(text)![1]!;
}

/** Resolves when it answers `get namespaces` and is ready. */
async function workspace(port: number, token: string, name: string): Promise<number> {
  const workspaces = '/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces';
  const connection = await Connection.open({ port, token, protocol: 'http/1.1' });
  const begun = performance.now();
  const body = Buffer.from(
    JSON.stringify({
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      kind: 'Workspace',
      metadata: { name },
      spec: { type: { name: 'universal', path: 'root' } },
    }),
  );
  const made = await connection.request('POST', workspaces, { body });
  if (made.status !== 201) throw new Error(`kcp: ${made.status} ${made.body.toString()}`);
  for (;;) {
    const { body: seen } = await connection.request('GET', `${workspaces}/${name}`);
    if (/"phase": ?"Ready"/.test(seen.toString())) break;
    await sleep(pollMs);
  }
  connection.close();
  await answers(port, token, `/clusters/root:${name}/api/v1/namespaces`);
  return performance.now() - begun;
}

async function answers(port: number, token: string, ...paths: readonly string[]): Promise<void> {
  for (const path of paths) while ((await statusOf(port, token, path)) !== 200) await sleep(pollMs);
}

async function statusOf(port: number, token: string, path: string): Promise<number> {
  try {
    const connection = await Connection.open({ port, token, protocol: 'http/1.1' });
    const { status } = await connection.request('GET', path);
    connection.close();
    return status;
  } catch {
    return 0;
  }
}
