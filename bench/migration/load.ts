/**
 * Round trips of a control plane with 50 CustomResourceDefinitions, a Helm release, informers of client-go, a client that writes, a real node
 * and real controllers. Every object is compared before and after each migration.
 */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asError } from '@hangar/core';
import { startInformers } from '../../tests/backup/informers/informers.ts';
import type { Informers } from '../../tests/backup/informers/informers.ts';
import { AcknowledgedWrites } from '../../tests/migration/testing/acknowledged-writes.ts';
import { NodeWorkload } from '../../tests/migration/testing/node-workload.ts';
import type { Side } from '../../tests/migration/testing/node-workload.ts';
import { HostedPlatform } from '../../tests/migration/testing/platform.ts';
import { imageName } from '../../tests/nodes/images/images.ts';
import { Nodes } from '../../tests/nodes/machine/node.ts';
import { run } from '../../tools/run.ts';
import { tool } from '../../tools/tool.ts';
import { seconds } from '../hosted/units.ts';
import { inspectorFlag } from '../inspector.ts';
import { fill, filledNamespace } from './fill.ts';
import { disposeOnSignal, progressLines } from './progress.ts';
import { ServerProfile } from './server-profile.ts';

export interface LoadOptions {
  readonly filled: number;
  /** Per second. */
  readonly writes: number;
  readonly rounds: number;
  /** Each has informers of six kinds. */
  readonly programs: number;
  /** With a node, which needs root, and a controller manager. */
  readonly hasNode: boolean;
  readonly hasHelm: boolean;
  /** For CPU profiles of the server, one for each phase. Absent: none. */
  readonly profileFolder?: string | undefined;
}

export interface Switch {
  readonly round: number;
  readonly to: Side;
  readonly tookMs: number;
  /** How long requests were held, as `status.migration` has it. */
  readonly heldMs: number;
  /** The longest time without an acknowledged write. */
  readonly longestPauseMs: number;
  /** Of writes from the start of the migration until it is complete. */
  readonly movingP99Ms: number;
  /** Of writes from then on, while the checks and Helm read and write. */
  readonly servedP99Ms: number;
  /** Objects whose UID or resourceVersion differs from the first one. */
  readonly changed: number;
  /** Absent: without a node. Otherwise `ok`, or what does not work. */
  readonly nodeCheck?: string | undefined;
}

export interface LoadResult {
  readonly switches: readonly Switch[];
  readonly objects: number;
  readonly acknowledged: number;
  readonly failures: number;
  readonly faults: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  readonly longestPauseMs: number;
  readonly informers: number;
  readonly relists: number;
  /** Acknowledged writes of which an informer has seen no event. */
  readonly missed: number;
}

const kindsOfProgram = 6;
const definitions = 50;
const chart = fileURLToPath(new URL('../../tests/conformance/helm/chart', import.meta.url));
const helmTimeoutMs = 90_000;
const replicas = 2;
const name = 'app';

export async function load(options: LoadOptions): Promise<LoadResult> {
  const { filled, writes, rounds, hasNode, hasHelm, programs, profileFolder } = options;
  if (profileFolder !== undefined)
    process.env['NODE_OPTIONS'] = `${process.env['NODE_OPTIONS'] ?? ''} ${inspectorFlag}`;
  const print = progressLines();
  await using stack = new AsyncDisposableStack();
  disposeOnSignal(stack);
  const { platform, workload } = await started(stack, hasNode);
  print(`the platform runs${workload ? ', and the node is ready' : ''}`);
  const kubeconfig = await platform.text(`${name}.kubeconfig`);
  await fill(kubeconfig, { configMaps: filled, definitions });
  if (hasHelm)
    await helm(platform, 'install', 'greeter', chart, '--create-namespace', `--set=image=${imageName('agnhost')}`);
  await workload?.deploy(replicas);
  const informers = await startedInformers(stack, programs, join(platform.folder, `${name}.kubeconfig`));
  const client = stack.use(await AcknowledgedWrites.start(kubeconfig, { perSecond: writes }));
  await client.more(writes);
  const initial = await versionsOf(platform);
  print(`the control plane has ${initial.size} objects; clients run`);
  const profile = profileFolder === undefined ? undefined : stack.use(await profileOf(platform, profileFolder));
  const switches: Switch[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const to of ['dedicated', 'virtual'] as const) {
      client.takeRecent();
      const tookMs = await migrated(platform, workload, to);
      const moving = client.takeRecent();
      if (profile) print(await profile.take(`round ${round} to ${to}`));
      const nodeCheck = workload && (await checked(workload, to));
      const now = await versionsOf(platform);
      const changed = [...initial].filter((version) => !now.has(version)).length;
      const values = ['--reuse-values', '--no-hooks', `--set=greeting=${to}-${round}`];
      if (hasHelm) await helm(platform, 'upgrade', 'greeter', chart, ...values);
      await client.more(writes);
      const served = client.takeRecent();
      if (profile) print(await profile.take(`round ${round} after to ${to}`));
      const longestPauseMs = Math.max(moving.longestPauseMs, served.longestPauseMs);
      const p99s = { movingP99Ms: moving.p99Ms, servedP99Ms: served.p99Ms };
      const heldMs = await heldMsOf(platform);
      const one = { round, to, tookMs, heldMs, longestPauseMs, ...p99s, changed, nodeCheck };
      switches.push(one);
      print(
        `round ${round}, to ${to}: ${seconds(tookMs)}, held ${heldMs} ms, pause ${longestPauseMs.toFixed(0)} ms, p99 ${moving.p99Ms.toFixed(0)} ms, then ${served.p99Ms.toFixed(0)} ms, ${changed} objects changed, node: ${nodeCheck ?? 'none'}`,
      );
    }
  }
  print('all migrations are complete; comparing');
  return { switches, objects: initial.size, ...(await compared(platform, client, informers)) };
}

async function started(
  stack: AsyncDisposableStack,
  hasNode: boolean,
): Promise<{ platform: HostedPlatform; workload: NodeWorkload | undefined }> {
  if (!hasNode) {
    const platform = stack.use(await HostedPlatform.start());
    await platform.hangar('create', name, '-o', `${name}.kubeconfig`);
    return { platform, workload: undefined };
  }
  const nodes = stack.use(await Nodes.create());
  const platform = stack.use(await HostedPlatform.start([`--listen=${nodes.network.hostAddress}:0`]));
  return { platform, workload: stack.use(await NodeWorkload.start({ platform, nodes, name })) };
}

const profileOf = async (platform: HostedPlatform, folder: string): Promise<ServerProfile> =>
  ServerProfile.start({
    pid: await platform.serverPid(),
    logFile: join(platform.dataFolder, 'hangar.log'),
    folder,
  });

async function startedInformers(stack: AsyncDisposableStack, programs: number, file: string): Promise<Informers[]> {
  const all = await Promise.allSettled(Array.from({ length: programs }, () => startInformers(file)));
  const running = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  for (const one of running) stack.use(one);
  for (const one of all) if (one.status === 'rejected') throw one.reason;
  return running;
}

/** The Deployment is scaled while the control plane moves. Returns the time until the migration is complete. */
async function migrated(platform: HostedPlatform, workload: NodeWorkload | undefined, to: Side): Promise<number> {
  const [tookSeconds] = await Promise.all([platform.migrate(name, to), workload?.scale(replicas)]);
  return tookSeconds * 1_000;
}

/** A failed check is a result: the run continues. */
async function checked(workload: NodeWorkload, to: Side): Promise<string> {
  try {
    await workload.check(to);
    return 'ok';
  } catch (error) {
    return asError(error).message.split('\n', 1)[0]!;
  }
}

const heldMsOf = async (platform: HostedPlatform): Promise<number> =>
  Number(await platform.management('get', `controlplane/${name}`, '--output=jsonpath={.status.migration.pauseMs}'));

async function compared(
  platform: HostedPlatform,
  client: AcknowledgedWrites,
  informers: readonly Informers[],
): Promise<Omit<LoadResult, 'switches' | 'objects'>> {
  const versionsFile = join(platform.folder, 'versions');
  const { failures, faults, ...figures } = await client.finish(versionsFile);
  for (const line of faults.slice(0, 20)) console.log(line);
  for (const [message, count] of failures) console.log(`  ${count} requests failed: ${message}`);
  let [missed, relists] = [0, 0];
  for (const one of informers) {
    missed += await one.missed(versionsFile);
    relists += (await one.compare()).relists;
  }
  return {
    ...figures,
    failures: [...failures.values()].reduce((sum, count) => sum + count, 0),
    faults: faults.length,
    informers: informers.length * kindsOfProgram,
    relists,
    missed,
  };
}
interface Listed {
  readonly items: readonly {
    readonly kind: string;
    readonly metadata: {
      readonly namespace?: string;
      readonly name: string;
      readonly uid: string;
      readonly resourceVersion: string;
    };
  }[];
}

/** Kinds that only the users of the control plane write. */
const comparedKinds = 'configmaps,secrets,serviceaccounts,customresourcedefinitions';

async function versionsOf(platform: HostedPlatform): Promise<Set<string>> {
  const text = await platform.kubectl(`${name}.kubeconfig`, 'get', comparedKinds, '-n', filledNamespace, '-o', 'json');
  const { items } = JSON.parse(text) as Listed;
  // Published by the controllers of each side.
  const users = items.filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt');
  return new Set(
    users.map(({ kind, metadata: { namespace = '', name, uid, resourceVersion } }) =>
      [kind, namespace, name, uid, resourceVersion].join(' '),
    ),
  );
}

async function helm(platform: HostedPlatform, ...args: readonly string[]): Promise<void> {
  const home = join(platform.folder, 'helm');
  await mkdir(home, { recursive: true });
  const env = { ...process.env, HOME: home, HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };
  const all = [...args, `--kubeconfig=${join(platform.folder, `${name}.kubeconfig`)}`, '--namespace=greetings'];
  const { stdout, stderr, failure } = await run(await tool('helm'), all, { timeoutMs: helmTimeoutMs, env });
  if (failure !== undefined) throw new Error(`helm ${args.join(' ')}: ${stdout}${stderr}`);
}
