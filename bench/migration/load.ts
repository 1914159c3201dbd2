/**
 * Round trips of a control plane with 50 CustomResourceDefinitions, a Helm release, informers of client-go and a client that writes. Every
 * object is compared before and after each migration.
 */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startInformers } from '../../tests/backup/informers/informers.ts';
import { AcknowledgedWrites } from '../../tests/migration/testing/acknowledged-writes.ts';
import { HostedPlatform } from '../../tests/migration/testing/platform.ts';
import { run } from '../../tools/run.ts';
import { tool } from '../../tools/tool.ts';
import { seconds } from '../hosted/units.ts';
import { fill, filledNamespace } from './fill.ts';

export interface LoadOptions {
  readonly filled: number;
  /** Per second. */
  readonly writes: number;
  readonly rounds: number;
}

export interface LoadResult {
  readonly migrations: number;
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
  /** Objects whose UID or resourceVersion a migration has changed. */
  readonly changed: number;
}

/** Each program has informers of six kinds. */
const programs = 4;
const kindsOfProgram = 6;
const definitions = 50;
const chart = fileURLToPath(new URL('../../tests/conformance/helm/chart', import.meta.url));
const helmTimeoutMs = 90_000;

export async function load({ filled, writes, rounds }: LoadOptions): Promise<LoadResult> {
  await using stack = new AsyncDisposableStack();
  const platform = stack.use(await HostedPlatform.start());
  await platform.hangar('create', 'app', '-o', 'app.kubeconfig');
  const kubeconfig = await platform.text('app.kubeconfig');
  await fill(kubeconfig, { configMaps: filled, definitions });
  await helm(platform, 'install', 'greeter', chart, '--create-namespace');
  const file = join(platform.folder, 'app.kubeconfig');
  const informers = await Promise.all(Array.from({ length: programs }, () => startInformers(file)));
  for (const one of informers) stack.use(one);
  const client = stack.use(await AcknowledgedWrites.start(kubeconfig, { perSecond: writes }));
  await client.more(writes);
  const initial = await versionsOf(platform);
  let changed = 0;
  for (let round = 1; round <= rounds; round++) {
    for (const to of ['dedicated', 'virtual'] as const) {
      const tookSeconds = await platform.migrate('app', to);
      const now = await versionsOf(platform);
      changed += [...initial].filter((version) => !now.has(version)).length;
      await helm(platform, 'upgrade', 'greeter', chart, `--set=greeting=${to}-${round}`);
      await client.more(writes);
      console.log(`  round ${round}, to ${to}: ${seconds(tookSeconds * 1_000)}, ${changed} objects changed`);
    }
  }
  const versionsFile = join(platform.folder, 'versions');
  const report = await client.finish(versionsFile);
  for (const line of report.faults.slice(0, 20)) console.log(line);
  for (const [message, count] of report.failures) console.log(`  ${count} requests failed: ${message}`);
  let [missed, relists] = [0, 0];
  for (const one of informers) {
    missed += await one.missed(versionsFile);
    relists += (await one.compare()).relists;
  }
  return {
    migrations: rounds * 2,
    objects: initial.size,
    acknowledged: report.acknowledged,
    failures: [...report.failures.values()].reduce((sum, count) => sum + count, 0),
    faults: report.faults.length,
    p50Ms: report.p50Ms,
    p99Ms: report.p99Ms,
    longestMs: report.longestMs,
    longestPauseMs: report.longestPauseMs,
    informers: programs * kindsOfProgram,
    relists,
    missed,
    changed,
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
  const text = await platform.kubectl('app.kubeconfig', 'get', comparedKinds, '-n', filledNamespace, '-o', 'json');
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
  const all = [...args, `--kubeconfig=${join(platform.folder, 'app.kubeconfig')}`, '--namespace=greetings'];
  const { stdout, stderr, failure } = await run(await tool('helm'), all, { timeoutMs: helmTimeoutMs, env });
  if (failure !== undefined) throw new Error(`helm ${args.join(' ')}: ${stdout}${stderr}`);
}
