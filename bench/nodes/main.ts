/**
 * `npm run bench -- nodes`: streams between clients and a real kubelet, through Hangar and through the real kube-apiserver. Both servers
 * use the same kubelet and the same pods, in turns; the best of several rounds counts. `--quick` is a shorter run for development.
 */

import { readCommandLine } from '../../scripts/command-line.ts';
import { printBars } from '../bars.ts';
import type { Bar } from '../bars.ts';
import { cpuMs } from '../server/processes.ts';
import { table } from '../table.ts';
import { SharedKubelet } from './cluster.ts';
import type { Target } from './cluster.ts';
import { best, measuredOf, ratio, unitOf } from './figures.ts';
import type { Measured } from './figures.ts';
import { works } from './works.ts';
import type { Sizes, Work } from './works.ts';

const mebibyte = 1024 * 1024;

export async function run(args: string[]): Promise<boolean> {
  const { values } = readCommandLine(args, {
    usage: 'npm run bench -- nodes',
    names: [],
    options: {
      quick: { help: 'for development: smaller and shorter' },
      only: { value: 'TEXT', help: 'for development: only measurements whose names contain the text' },
    },
  });
  const sizes: Sizes = values.quick ? { bytes: 16 * mebibyte, rounds: 50 } : { bytes: 128 * mebibyte, rounds: 300 };
  await using kubelet = await SharedKubelet.start(sizes.bytes);
  const bars: Bar[] = [];
  const rows: string[][] = [];
  for (const work of works.filter(({ name }) => name.includes(values.only ?? ''))) {
    const [theirs, ours] = await measure(work, kubelet.targets, sizes, values.quick ? 2 : 5);
    rows.push([
      work.name,
      ...[theirs, ours].map((one) => unitOf(work, one, sizes)),
      ratio(theirs, ours).toFixed(2),
      ...cpu(theirs, ours),
    ]);
    bars.push({ what: work.name, measured: ratio(theirs, ours), bar: 1, must: 'at least' });
    console.log(rows.at(-1)!.join('  '));
  }
  const header = [
    `${sizes.bytes / mebibyte} MiB`,
    'kube',
    'hangar',
    'ratio',
    'kube CPU ms',
    'hangar CPU ms',
    'CPU ratio',
  ];
  console.log(`\n${table(header, rows)}`);
  return printBars(bars);
}

const cpu = (theirs: Measured, ours: Measured): string[] => [
  theirs.cpuMs.toFixed(0),
  ours.cpuMs.toFixed(0),
  (theirs.cpuMs / Math.max(ours.cpuMs, tickMs)).toFixed(2),
];

/** Resolution of the CPU time. */
const tickMs = 10;

/** The servers take turns. The first round compiles code and opens connections, and does not count. */
async function measure(
  work: Work,
  targets: readonly [Target, Target],
  sizes: Sizes,
  rounds: number,
): Promise<[Measured, Measured]> {
  const measured: [Measured[], Measured[]] = [[], []];
  for (let round = 0; round <= rounds; round++) {
    for (const [index, target] of targets.entries()) {
      const one = await measuredOf(
        () => work.run(target, sizes),
        () => cpuMs(target.pids),
      );
      if (round > 0) measured[index]!.push(one);
    }
  }
  return [best(measured[0]), best(measured[1])];
}
