/**
 * Starts servers as the Deployment would: with the configuration that the chart renders, the keys that `hangar pki` creates, and an etcd
 * that requires certificates. Only paths and ports differ.
 */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startEtcd } from '../../../packages/store/src/drivers/etcd/testing/etcd-process.ts';
import type { EtcdCluster } from '../../../packages/store/src/drivers/etcd/testing/etcd-process.ts';
import { template } from '../../../scripts/generate/manifests/render.ts';
import { run } from '../../../tools/run.ts';
import { Access } from '../../tenancy/testing/access.ts';
import { objectsOf, podTemplates, root } from './files.ts';

const program = join(root, 'bin/hangar.js');

export interface DeployedReplica {
  readonly url: string;
  /** By the kubeconfig that it wrote itself. */
  readonly admin: Access;
  readonly process: ChildProcess;
  /** Its log lines. */
  readonly log: readonly string[];
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

export interface DeployedHangars extends AsyncDisposable {
  readonly etcd: EtcdCluster;
  readonly pkiFolder: string;
  /** In the order of pods that start at the same time. */
  readonly replicas: readonly DeployedReplica[];
  hangar(...args: readonly string[]): Promise<string>;
}

export async function deployHangars(count: number): Promise<DeployedHangars> {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'hangar-deployed-'));
  started.defer(() => rm(folder, { recursive: true, force: true }));
  const etcd = await startEtcd({ unsafeNoFsync: true, tls: true });
  started.defer(() => etcd.stop());
  const pkiFolder = join(folder, 'etc/hangar/pki');
  await hangar('pki', 'init', pkiFolder);
  const { ca, client } = etcd.tls!;
  await writeAll(join(folder, 'etc/hangar/etcd'), { 'ca.crt': ca, 'tls.crt': client.cert, 'tls.key': client.key });
  const { args, config } = await deployment(etcd.endpoints);
  await writeAll(join(folder, 'etc/hangar/config'), { 'hangar.yaml': config.replaceAll('/etc/', `${folder}/etc/`) });
  // All at once, as pods start.
  const replicas = await Promise.all(
    Array.from({ length: count }, (_, at) => {
      const data = join(folder, `pod-${at}`);
      const adapted = args.map((arg) => arg.replaceAll('/etc/', `${folder}/etc/`));
      return startReplica([...adapted, `--data-dir=${data}`, '--listen=127.0.0.1:0'], data);
    }),
  );
  for (const replica of replicas) started.defer(async () => void (await replica.end('SIGKILL')));
  const running = started.move();
  return { etcd, pkiFolder, replicas, hangar, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function hangar(...args: readonly string[]): Promise<string> {
  const { stdout, stderr, failure } = await run(process.execPath, [program, ...args], { timeoutMs: 30_000 });
  if (failure !== undefined) throw new Error(`hangar ${args.join(' ')}: ${failure}\n${stderr}`);
  return stdout;
}

/** Returns the arguments of the container and its configuration file. */
async function deployment(endpoints: readonly string[]): Promise<{ args: string[]; config: string }> {
  const objects = objectsOf(await template('hangar', `--set-json=etcd.endpoints=${JSON.stringify(endpoints)}`));
  const pod = podTemplates(objects).find(({ of }) => of === 'Deployment hangar')!;
  const config = objects.find(({ kind }) => kind === 'ConfigMap').data['hangar.yaml'];
  return { args: pod.spec.containers[0].args, config };
}

async function writeAll(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 });
}

async function startReplica(args: readonly string[], data: string): Promise<DeployedReplica> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const log: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => log.push(line));
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const ended = once(child, 'exit');
    child.kill(signal);
    const [code] = (await ended) as [number | null];
    return code;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /^ready (https:\S+)$/.exec(line) ?? [];
    if (url === undefined) continue;
    child.stdout.resume();
    return { url, admin: await Access.of(join(data, 'admin.kubeconfig')), process: child, log, end };
  }
  throw new Error(`a replica ended: ${log.slice(-20).join('\n')}`);
}
