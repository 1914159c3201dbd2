/**
 * `npm run bench -- controller-manager [--quick] [kube|essential …]`: the cost of the controllers of N clusters in one controller manager,
 * with the real kube-controller-manager for each of them and with the essential set for all of them, side by side.
 *
 * Without names both are measured. `--quick` is for development: fewer clusters and shorter times.
 */

import { readCommandLine } from '../../scripts/command-line.ts';
import { printBars } from '../bars.ts';
import type { Bar } from '../bars.ts';
import { table, thousands } from '../table.ts';
import { benchEssential } from './essential.ts';
import { benchKube } from './kube.ts';
import type { Cost, Row } from './row.ts';

const names = ['kube', 'essential'] as const;
type Name = (typeof names)[number];

const full = { kube: [1, 5, 20], essential: [1, 100, 1_000], idleMs: 15_000 };
const quick: typeof full = { kube: [1, 3], essential: [1, 100], idleMs: 3_000 };

/** Maximum memory of an idle cluster in the process that runs the essential set. */
const idleClusterKiBMax = 10;

export async function run(args: string[]): Promise<boolean> {
  const { values, names: given } = readCommandLine(args, {
    usage: 'npm run bench -- controller-manager',
    names,
    options: { quick: { help: 'for development: smaller and shorter' } },
  });
  const isWanted = (name: Name): boolean => given.length === 0 || given.includes(name);
  const sizes = values.quick ? quick : full;
  const log = (line: string): void => console.log(`  ${line}`);
  const rows: Row[] = [];
  if (isWanted('kube')) rows.push(...(await benchKube({ counts: sizes.kube, idleMs: sizes.idleMs, log })));
  if (isWanted('essential')) rows.push(...(await benchEssential({ counts: sizes.essential, log })));
  console.log(`\n${costTable(rows)}`);
  return printBars(bars(rows));
}

const costTable = (rows: readonly Row[]): string =>
  table(
    [
      'engine, clusters',
      'all served',
      'process RSS',
      'PSS',
      'CPU, idle',
      'children',
      'their RSS',
      'PSS',
      'CPU, idle',
      'a cluster more',
      'namespace gone',
    ],
    rows.map((row, at) => [
      `${row.engine}, ${thousands(row.clusters)}`,
      `${(row.readyMs / 1000).toFixed(1)} s`,
      ...cells(row.parent),
      row.children ? String(row.children.processes) : '–',
      ...(row.children ? cells(row.children) : ['–', '–', '–']),
      oneMore(row, rows[at - 1]),
      `${row.reactMs.toFixed(0)} ms`,
    ]),
  );

const cells = ({ residentMiB, proportionalMiB, cpu }: Cost): string[] => [
  `${residentMiB.toFixed(0)} MiB`,
  `${proportionalMiB.toFixed(0)} MiB`,
  `${(cpu * 100).toFixed(2)} %`,
];

/** Memory of one more cluster: measured directly, or as the difference to the previous row. */
function oneMore(row: Row, before: Row | undefined): string {
  if (row.idleClusterKiB !== undefined) return `${row.idleClusterKiB.toFixed(1)} KiB`;
  if (before?.engine !== row.engine) return '–';
  return `${((total(row) - total(before)) / (row.clusters - before.clusters)).toFixed(1)} MiB`;
}

const total = ({ parent, children }: Row): number => parent.proportionalMiB + (children?.proportionalMiB ?? 0);

function bars(rows: readonly Row[]): Bar[] {
  const most = rows.findLast(({ idleClusterKiB }) => idleClusterKiB !== undefined);
  return most === undefined
    ? []
    : [
        {
          what: `the essential engine's memory for each of ${thousands(most.clusters)} idle clusters`,
          measured: most.idleClusterKiB!,
          bar: idleClusterKiBMax,
          must: 'at most',
          unit: ' KiB',
        },
      ];
}
