/**
 * `npm run bench -- controllers`: the essential controllers beside the real kube-controller-manager, on a bare Hangar and on the real
 * kube-apiserver; and their idle cost.
 *
 *     npm run bench -- controllers [--quick] [work|idle …]
 *
 * Without names both are measured. `--quick` is for development: fewer objects, rounds and tenants.
 */

import { readCommandLine } from '../../scripts/command-line.ts';
import { printBars } from '../bars.ts';
import type { Bar } from '../bars.ts';
import { percentile, table } from '../table.ts';
import { idle } from './idle.ts';
import type { Idle, IdleCost } from './idle.ts';
import { setups } from './planes.ts';
import { measureWork, warmUp } from './work.ts';
import type { Work } from './work.ts';

const names = ['work', 'idle'] as const;
type Name = (typeof names)[number];

const full = { objects: 1_000, rounds: 3, accounts: 20, tenants: 10_000 };
const quick: typeof full = { objects: 1_000, rounds: 1, accounts: 5, tenants: 500 };

export async function run(args: string[]): Promise<boolean> {
  const { values, names: given } = readCommandLine(args, {
    usage: 'npm run bench -- controllers',
    names,
    options: { quick: { help: 'for development: smaller and shorter' } },
  });
  const isWanted = (name: Name): boolean => given.length === 0 || given.includes(name);
  const sizes = values.quick ? quick : full;
  const bars: Bar[] = [];
  if (isWanted('work')) {
    console.log(`\nuntil it is done: medians of ${sizes.rounds}, ${sizes.objects} objects each`);
    const all: Work[] = [];
    for (const start of Object.values(setups)) {
      await using setup = await start();
      for (const plane of setup.planes) {
        await warmUp(plane.client);
        all.push(await measureWork(plane, sizes));
      }
    }
    console.log(workTable(all));
    bars.push(...workBars(all));
  }
  if (isWanted('idle')) {
    console.log(`\n${sizes.tenants} idle tenants, each was asked once`);
    const measured = await idle(sizes.tenants);
    console.log(idleTable(measured));
    bars.push(...idleBars(measured));
  }
  return printBars(bars);
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
const median = (all: readonly number[]): number =>
  percentile(
    all.toSorted((a, b) => a - b),
    0.5,
  );

const workTable = (all: readonly Work[]): string =>
  table(
    ['', 'namespace', 'garbage, background', 'garbage, foreground', 'default account p50', 'max'],
    all.map(({ name, namespace, background, foreground, accounts }) => [
      name,
      seconds(median(namespace)),
      seconds(median(background)),
      seconds(median(foreground)),
      `${median(accounts).toFixed(1)} ms`,
      `${accounts.at(-1)!.toFixed(1)} ms`,
    ]),
  );

const workBars = (all: readonly Work[]): Bar[] =>
  all
    .filter(({ isOurs }) => isOurs)
    .map(({ name, namespace, objects }) => ({
      what: `a namespace of ${objects} objects, ${name}, the slowest`,
      measured: Math.max(...namespace) / 1_000,
      bar: 2,
      must: 'at most',
      unit: ' s',
    }));

const idleTable = ({ bare, whole }: Idle): string => {
  const row = (name: string, { startMs, residentMiB, startCpuMs, cpu, writes }: IdleCost): string[] => [
    name,
    seconds(startMs),
    `${residentMiB.toFixed(0)} MiB`,
    seconds(startCpuMs),
    `${(cpu * 100).toFixed(2)} %`,
    String(writes),
  ];
  const header = ['', 'ready', 'memory at rest', 'CPU until then', 'CPU of a core, 30 s', 'writes'];
  return table(header, [row('--bare', bare), row('with operator and essential set', whole)]);
};

const idleBars = ({ tenants, bare, whole }: Idle): Bar[] => [
  {
    what: `memory with ${tenants} idle tenants against --bare`,
    measured: whole.residentMiB - bare.residentMiB,
    bar: 64,
    must: 'at most',
    unit: ' MiB more',
  },
  {
    what: `CPU with ${tenants} idle tenants`,
    measured: whole.cpu * 100,
    bar: 1,
    must: 'at most',
    unit: ' % of a core',
  },
  { what: `writes with ${tenants} idle tenants in 30 s`, measured: whole.writes, bar: 0, must: 'at most', unit: '' },
];
