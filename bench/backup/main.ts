/**
 * `npm run bench -- backup`: backups and restores of virtual control planes by a separate process, as an operator makes them. Hangar runs as
 * `bin/hangar.js` with its embedded store, the S3 server is versitygw.
 *
 *     npm run bench -- backup [--quick] [large|fleet|schedule …]
 */

import { readCommandLine } from '../../scripts/command-line.ts';
import { printBars } from '../bars.ts';
import type { Bar } from '../bars.ts';
import { table } from '../table.ts';
import { fleet } from './fleet.ts';
import type { FleetResult } from './fleet.ts';
import { large } from './large.ts';
import type { LargeRow } from './large.ts';
import { schedule } from './schedule.ts';
import type { ScheduleResult } from './schedule.ts';

const names = ['large', 'fleet', 'schedule'] as const;

const full = { mebibytes: 1_024, planes: 1_000, restored: 20, measuredMs: 10_000 };
const quick = { mebibytes: 128, planes: 100, restored: 5, measuredMs: 2_000 };

export async function run(args: string[]): Promise<boolean> {
  const { values, names: given } = readCommandLine(args, {
    usage: 'npm run bench -- backup',
    names,
    options: { quick: { help: 'for development: smaller and shorter' } },
  });
  const isWanted = (name: (typeof names)[number]): boolean => given.length === 0 || given.includes(name);
  const sizes = values.quick ? quick : full;
  const bars: Bar[] = [];
  if (isWanted('large')) {
    console.log(`\na control plane with ${sizes.mebibytes} MiB of objects`);
    const rows = await large(sizes.mebibytes);
    console.log(largeTable(rows));
    bars.push(...largeBars(rows));
  }
  if (isWanted('fleet')) {
    console.log(`\n${sizes.planes} control planes with 10 objects of 1 KiB each, 4 at a time to a folder`);
    const result = await fleet(sizes.planes, sizes.restored, sizes.measuredMs);
    console.log(fleetLine(result));
    bars.push(...fleetBars(result));
  }
  if (isWanted('schedule')) {
    console.log(`\n${sizes.planes} ControlPlanes on one schedule, by the operator in the process of the server`);
    const result = await schedule(sizes.planes, sizes.restored);
    console.log(scheduleLine(result));
    bars.push(...scheduleBars(result));
  }
  return printBars(bars);
}

const largeTable = (rows: readonly LargeRow[]): string =>
  table(
    ['', 'MiB/s', 'seconds', 'worker MiB', 'server MiB'],
    rows.map(({ what, mebibytes, seconds, growthMiB, serverGrowthMiB }) => [
      what,
      (mebibytes / seconds).toFixed(0),
      seconds.toFixed(1),
      `+ ${growthMiB}`,
      `+ ${serverGrowthMiB.toFixed(0)}`,
    ]),
  );

function largeBars(rows: readonly LargeRow[]): Bar[] {
  const digests = new Set(rows.map(({ contentDigest }) => contentDigest));
  const atMost = { must: 'at most', unit: ' MiB' } as const;
  return [
    {
      what: 'different digests of backups and restored control planes',
      measured: digests.size,
      bar: 1,
      must: 'at most',
      unit: '',
    },
    {
      what: 'memory of the worker',
      measured: Math.max(...rows.map(({ growthMiB }) => growthMiB)),
      bar: 100,
      ...atMost,
    },
  ];
}

const fleetLine = ({ backups, seconds, restored, restoreSeconds, growthMiB, serverGrowthMiB }: FleetResult): string =>
  `  ${(backups / seconds).toFixed(0)} backups a second, ${(restored / restoreSeconds).toFixed(0)} restores a second with a comparison; ` +
  `worker + ${growthMiB} MiB, server + ${serverGrowthMiB.toFixed(0)} MiB`;

const fleetBars = ({ equal, restored, growthMiB, p99Ms, quietP99Ms }: FleetResult): Bar[] => [
  {
    what: 'restored control planes with the digest of their backup',
    measured: equal / restored,
    bar: 1,
    must: 'at least',
  },
  { what: 'memory of the worker', measured: growthMiB, bar: 100, must: 'at most', unit: ' MiB' },
  {
    what: 'client of another control plane, p99 against its quiet p99',
    measured: p99Ms / quietP99Ms,
    bar: 2,
    must: 'at most',
  },
];

const scheduleLine = (one: ScheduleResult): string =>
  `  ${one.backups} backups in ${one.seconds.toFixed(1)} s from the scheduled time, of which they are spread over 15 s; ` +
  `${one.restored} restores in ${one.restoreSeconds.toFixed(1)} s; server + ${one.serverGrowthMiB.toFixed(0)} MiB`;

const scheduleBars = ({ equal, restored, serverGrowthMiB }: ScheduleResult): Bar[] => [
  { what: 'restores with the digest of their backup', measured: equal / restored, bar: 1, must: 'at least' },
  { what: 'memory of the server', measured: serverGrowthMiB, bar: 200, must: 'at most', unit: ' MiB' },
];
