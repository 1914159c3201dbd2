/**
 * `npm run bench -- etcd`: the etcd of a HostedControlPlane on the process runtime, with three members, under a constant load of writes, while
 * its members are killed, deleted, wiped and moved to other volumes in random order, one at a time. In the same run it is defragmented and
 * upgraded by a minor version. Nothing acknowledged may be lost.
 */

import { systemClock } from '@hangar/core';
import { annotations, HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import { readCommandLine, wholeNumber } from '../../scripts/command-line.ts';
import { etcdAccess } from '../../tests/hosted/testing/etcd-access.ts';
import { EtcdDisruptions } from '../../tests/hosted/testing/etcd-disruptions.ts';
import { fragment } from '../../tests/hosted/testing/etcd-fragments.ts';
import { EtcdLoad } from '../../tests/hosted/testing/etcd-load.ts';
import type { LoadReport } from '../../tests/hosted/testing/etcd-load.ts';
import { etcdVersions } from '../../tests/hosted/testing/etcd-versions.ts';
import { key, ProcessCluster } from '../../tests/hosted/testing/process-cluster.ts';
import { newerVersion } from '../../tests/hosted/testing/versions.ts';
import { printBars } from '../bars.ts';
import { seconds } from '../hosted/units.ts';
import { table, thousands } from '../table.ts';

/** Shares of the run after which they happen. */
const defragmentAfter = 0.35;
const upgradeAfter = 0.6;

export async function run(args: string[]): Promise<boolean> {
  const { values } = readCommandLine(args, {
    usage: 'npm run bench -- etcd',
    names: [],
    options: {
      minutes: { value: 'N', help: 'duration of the run (default: 10)' },
      writes: { value: 'N', help: 'writes per second (default: 2000)' },
      seed: { value: 'N', help: 'order of the disruptions (default: a random one, which is printed)' },
    },
  });
  const durationMs = wholeNumber('minutes', values.minutes, 10) * 60_000;
  const writesPerSecond = wholeNumber('writes', values.writes, 2_000);
  const seed = wholeNumber('seed', values.seed, systemClock.now() % 1_000_000);
  console.log(`seed ${seed}`);

  const { images, older, newer } = await etcdVersions();
  await using cluster = await ProcessCluster.start({ images });
  const { client } = cluster;
  const spec = { version: newerVersion, replicas: 1, etcd: { version: older } };
  await client.create(HostedControlPlane, { metadata: { ...key }, spec });
  await cluster.ready();
  const disruptions = new EtcdDisruptions(cluster, { random: seeded(seed) });
  await disruptions.healthy();
  await using load = EtcdLoad.start({ members: () => etcdAccess(client, key), writesPerSecond });

  const startedMs = performance.now();
  const elapsed = (): number => (performance.now() - startedMs) / durationMs;
  const report = (what: string): void => {
    const time = seconds(performance.now() - startedMs).padStart(8);
    console.log(`${time}  ${what}, ${thousands(load.acknowledged)} writes`);
  };
  const pending = [
    { after: defragmentAfter, run: () => defragment(cluster) },
    { after: upgradeAfter, run: () => upgrade(cluster, older, newer) },
  ];
  while (elapsed() < 1 || pending.length > 0) {
    const [next] = pending;
    if (next && elapsed() >= next.after) {
      pending.shift();
      report(await next.run());
      await disruptions.healthy();
    } else report(await disruptions.one());
    await load.more(writesPerSecond);
  }
  return summarize(await load.finish(), disruptions, writesPerSecond);
}

/** Resolves when the operator has defragmented the members. */
async function defragment(cluster: ProcessCluster): Promise<string> {
  const before = (await cluster.client.get(HostedControlPlane, key)).status?.etcdLastDefragTime;
  await fragment(cluster.client, key);
  await cluster.until('etcd is defragmented', ({ status }) => {
    const time = status?.etcdLastDefragTime;
    return time !== undefined && time !== before;
  });
  return 'defragmented';
}

/** No controllers of backups run here, so the snapshot before the upgrade is waived. */
async function upgrade(cluster: ProcessCluster, from: string, to: string): Promise<string> {
  const waived = { [annotations.etcdUpgradeWithoutSnapshot]: to };
  const body = { metadata: { annotations: waived }, spec: { etcd: { version: to } } };
  await cluster.client.patch(HostedControlPlane, key, { type: 'merge', body });
  const isNew = (version: string): boolean => version.split('.')[1] === to.split('.')[1];
  await cluster.until('all members have the new version', ({ metadata, status }) => {
    const versions = (status?.etcdMembers ?? []).map(({ version = '' }) => version);
    return status?.observedGeneration === metadata.generation && versions.length === 3 && versions.every(isNew);
  });
  return `upgraded from ${from} to ${to}`;
}

function summarize(load: LoadReport, { counts }: EtcdDisruptions, writesPerSecond: number): boolean {
  const rate = load.acknowledged / load.seconds;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  console.log(
    table(
      ['etcd with three members', ''],
      [
        ['duration', seconds(load.seconds * 1_000)],
        ['acknowledged writes', thousands(load.acknowledged)],
        ['writes without an answer', thousands(load.unknown)],
        ['p99 of a write', `${load.p99Ms} ms`],
        ['disruptions', String(total)],
        ...Object.entries(counts).map(([kind, count]) => [`  ${kind}`, String(count)]),
      ],
    ),
  );
  for (const one of load.lost.slice(0, 20)) console.log(one);
  return printBars([
    { what: 'acknowledged writes that are lost', measured: load.lost.length, bar: 0, must: 'at most', unit: '' },
    { what: 'writes per second', measured: rate / writesPerSecond, bar: 0.9, must: 'at least' },
    { what: 'longest pause of writes', measured: load.longestPauseMs / 1_000, bar: 10, must: 'at most', unit: ' s' },
  ]);
}

/** Numbers from 0 to 1 that repeat for the same seed. */
function seeded(seed: number): () => number {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) / 2 ** 24;
  };
}
