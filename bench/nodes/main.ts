/**
 * `npm run bench -- nodes`: streams between clients and a real kubelet, through Hangar and through the real kube-apiserver. Both servers
 * use the same kubelet and the same pods, in turns; medians of several rounds count. `--quick` is a shorter run for development.
 */

import { readCommandLine } from '../../scripts/command-line.ts';
import { printBars } from '../bars.ts';
import type { Bar } from '../bars.ts';
import { threadsCpuMs } from '../server/processes.ts';
import { table } from '../table.ts';
import { SharedKubelet } from './cluster.ts';
import type { Target } from './cluster.ts';
import { TruncatedStreamError } from './connection.ts';
import { measuredOf, medianOf, ratio, unitOf } from './figures.ts';
import type { Compared, Measured } from './figures.ts';
import { works } from './works.ts';
import type { Sizes, Work } from './works.ts';

const mebibyte = 1024 * 1024;
/** Odd, so that a median is one of the rounds. */
const roundsOf = (isQuick: boolean): number => (isQuick ? 3 : 11);

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
  const rounds = roundsOf(values.quick === true);
  const bars: Bar[] = [];
  const rows: string[][] = [];
  for (const work of works.filter(({ name }) => name.includes(values.only ?? ''))) {
    const compared = await measure(work, kubelet.targets, sizes, rounds);
    const [theirs, ours] = [medianOf(compared.theirs), medianOf(compared.ours)];
    rows.push([
      work.name,
      ...[theirs, ours].map((one) => unitOf(work, one, sizes)),
      ratio(compared, 'unitMs').toFixed(2),
      ...[theirs, ours].map(({ cpuMs }) => cpuMs.toFixed(0)),
      ratio(compared, 'cpuMs').toFixed(2),
    ]);
    bars.push({ what: work.name, measured: ratio(compared, 'unitMs'), bar: 1, must: 'at least' });
    console.log(rows.at(-1)!.join('  '));
  }
  const header = [
    `${sizes.bytes / mebibyte} MiB, ${rounds} rounds`,
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

/** Node.js compiles a function well only after some thousands of calls, as in a server that runs for a minute. A transfer has enough of them. */
const warmUpsOf = (work: Work): number => (work.isTransfer ? 1 : 6);

/**
 * The servers take turns, and the first of a round is the second of the next one. Rounds before the others compile code and open
 * connections, and do not count.
 */
async function measure(
  work: Work,
  [kube, hangar]: readonly [Target, Target],
  sizes: Sizes,
  rounds: number,
): Promise<Compared> {
  const measured = { theirs: [] as Measured[], ours: [] as Measured[] };
  const sides = [
    { target: kube, results: measured.theirs },
    { target: hangar, results: measured.ours },
  ];
  const warmUps = warmUpsOf(work);
  for (let round = 0; round < warmUps + rounds; round++) {
    for (const { target, results } of round % 2 === 0 ? sides : sides.toReversed()) {
      const one = await measureOnce(work, target, sizes);
      if (round >= warmUps) results.push(one);
    }
  }
  return measured;
}

const attemptsMax = 3;

/**
 * On a machine with little CPU left, the container runtime loses the end of a long output: seen through kube-apiserver, too. Such an attempt
 * is reported and repeated.
 */
async function measureOnce(work: Work, target: Target, sizes: Sizes): Promise<Measured> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await measuredOf(
        () => work.run(target, sizes),
        () => threadsCpuMs(target.pids),
      );
    } catch (error) {
      if (!(error instanceof TruncatedStreamError) || attempt === attemptsMax) throw error;
      console.log(`${work.name} through ${target.name}, attempt ${attempt}: ${error.message}`);
    }
  }
}
