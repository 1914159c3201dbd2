/** The two compared servers, as in production: durable, over TLS, with a static token. */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { etcdArguments, etcdUrl, kubernetesArguments, writeCredentials } from '@hangar/api/testing';
import { freePorts } from '../../tools/free-ports.ts';
import { tool } from '../../tools/tool.ts';
import { Connection } from './connection.ts';

export interface Server {
  readonly name: string;
  readonly port: number;
  readonly token: string;
  /** Of the server itself, then of its store. */
  readonly pids: readonly number[];
  /** From the first process to the first `ok` of /readyz. */
  readonly startMs: number;
  stop(): Promise<void>;
}

class Started {
  readonly children: ChildProcess[] = [];
  readonly folder: string;
  readonly begunAt = performance.now();

  constructor(folder: string) {
    this.folder = folder;
  }

  run(path: string, args: readonly string[]): void {
    this.children.push(spawn(path, args, { stdio: 'ignore' }));
  }

  async ready(name: string, port: number, token: string): Promise<Server> {
    while (!(await isReady(port, token))) {
      if (this.children.some(({ exitCode }) => exitCode !== null)) throw new Error(`${name} did not start`);
      await sleep(5);
    }
    const startMs = performance.now() - this.begunAt;
    const pids = this.children.toReversed().map(({ pid }) => pid!);
    return { name, port, token, pids, startMs, stop: () => this.stop() };
  }

  async stop(): Promise<void> {
    for (const child of this.children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function started(name: string, start: (started: Started) => Promise<Server>): Promise<Server> {
  const all = new Started(await mkdtemp(join(tmpdir(), `hangar-bench-${name}-`)));
  try {
    return await start(all);
  } catch (error) {
    await all.stop();
    throw error;
  }
}

async function isReady(port: number, token: string): Promise<boolean> {
  try {
    const connection = await Connection.open({ port, token, protocol: 'http/1.1' });
    const { status } = await connection.request('GET', '/readyz');
    connection.close();
    return status === 200;
  } catch {
    return false;
  }
}

async function runEtcd(all: Started): Promise<string> {
  const [clientPort, peerPort] = await freePorts(2);
  const place = { folder: all.folder, clientPort: clientPort!, peerPort: peerPort! };
  all.run(await tool('etcd'), etcdArguments(place));
  return etcdUrl(place);
}

export async function startKubernetes(): Promise<Server> {
  await tool('kube-apiserver');
  await tool('etcd');
  return started('kubernetes', async (all) => {
    const [port] = await freePorts(1);
    const token = randomUUID();
    const { folder } = all;
    await writeCredentials(folder, [{ token, user: 'admin', groups: ['system:masters'] }]);
    const place = { folder, etcdUrl: await runEtcd(all), port: port! };
    all.run(await tool('kube-apiserver'), kubernetesArguments(place, ['--authorization-mode=RBAC']));
    return all.ready('kube-apiserver + etcd', port!, token);
  });
}

/** Token of an administrator, for preparations. */
export const adminToken = randomUUID();

const hangar = fileURLToPath(new URL('../../bin/hangar.js', import.meta.url));

export interface HangarOptions {
  /** User of the token in requests. */
  readonly user?: string;
  /** Additional files of its folder, and their flags. */
  readonly files?: Readonly<Record<string, string>>;
  readonly flags?: (folder: string) => readonly string[];
  /** With controllers and operator. Absent: the API server alone, as the one that it is compared with. */
  readonly isWhole?: boolean;
}

export async function startHangar(store: 'embedded' | 'etcd', options: HangarOptions = {}): Promise<Server> {
  return started(`hangar-${store}`, async (all) => {
    const [port] = await freePorts(1);
    const token = randomUUID();
    const { user = 'admin,,system:masters', files = {}, flags = () => [], isWhole = false } = options;
    await writeFile(join(all.folder, 'tokens.csv'), `${token},${user}\n${adminToken},admin,,system:masters\n`);
    for (const [name, text] of Object.entries(files)) await writeFile(join(all.folder, name), text);
    const etcd = store === 'etcd' ? [`--etcd-endpoints=${await runEtcd(all)}`] : [];
    all.run(process.execPath, [
      hangar,
      'up',
      isWhole ? '--no-demo' : '--bare',
      `--data-dir=${all.folder}/data`,
      `--listen=127.0.0.1:${port}`,
      `--token-file=${all.folder}/tokens.csv`,
      `--store=${store}`,
      ...etcd,
      ...flags(all.folder),
    ]);
    return all.ready(`hangar (${store})`, port!, token);
  });
}
