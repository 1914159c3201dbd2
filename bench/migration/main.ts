/**
 * `npm run bench -- migration`: a control plane moves from virtual to dedicated and back while clients use it. Hangar runs as `hangar up
 * --hosted`; etcd and kube-apiserver run as local processes.
 *
 *     npm run bench -- migration [--objects 1000,10000] [--filled 20000] [--writes 200] [--rounds 3] [--profile FOLDER] [sizes|load …]
 */

import { Usage, readCommandLine, wholeNumber } from '../../scripts/command-line.ts';
import { printBars } from '../bars.ts';
import type { Bar } from '../bars.ts';
import { seconds } from '../hosted/units.ts';
import { table, thousands } from '../table.ts';
import { load } from './load.ts';
import type { LoadResult, Switch } from './load.ts';
import { sizes } from './sizes.ts';
import type { SizeRow } from './sizes.ts';

const names = ['sizes', 'load'] as const;

export async function run(args: string[]): Promise<boolean> {
  const { values, names: given } = readCommandLine(args, {
    usage: 'npm run bench -- migration',
    names,
    options: {
      objects: { value: 'N,N', help: 'sizes: numbers of objects (default: 1000,10000,100000)' },
      filled: { value: 'N', help: 'load: number of objects (default: 20000)' },
      writes: { value: 'N', help: 'writes per second while it moves (default: 200)' },
      rounds: { value: 'N', help: 'load: round trips (default: 3)' },
      programs: { value: 'N', help: 'load: programs with six informers each (default: 4)' },
      profile: { value: 'FOLDER', help: 'load: writes a CPU profile of the server for each phase' },
      'no-helm': { help: 'load: without a Helm release' },
      'no-node': { help: 'load: without a node, which needs root, and a controller manager' },
    },
  });
  const writes = wholeNumber('writes', values.writes, 200);
  const isWanted = (name: (typeof names)[number]): boolean => given.length === 0 || given.includes(name);
  const bars: Bar[] = [];
  if (isWanted('load')) {
    const filled = wholeNumber('filled', values.filled, 20_000);
    const rounds = wholeNumber('rounds', values.rounds, 3);
    const result = await load({
      filled,
      writes,
      rounds,
      programs: wholeNumber('programs', values.programs, 4),
      hasNode: !values['no-node'],
      hasHelm: !values['no-helm'],
      profileFolder: values.profile,
    });
    console.log(`\n${switchesTable(result.switches)}\n\n${loadTable(result)}`);
    bars.push(...loadBars(result));
  }
  if (isWanted('sizes')) {
    const rows: SizeRow[] = [];
    for (const objects of counts(values.objects ?? '1000,10000,100000')) {
      rows.push(await sizes({ objects, writes }));
      // The largest sizes take long, and can fail.
      console.log(`\n${sizesTable(rows)}\n`);
    }
    bars.push(...rows.map(pauseBar));
  }
  return printBars(bars);
}

function counts(text: string): readonly number[] {
  const all = text.split(',').map(Number);
  if (all.some((one) => !Number.isInteger(one) || one < 1))
    throw new Usage(`--objects ${text}: not a list of numbers`, 2);
  return all;
}

const sizesTable = (rows: readonly SizeRow[]): string =>
  table(
    ['objects', 'to dedicated', 'to virtual', 'longest pause', 'p99', 'server MiB'],
    rows.map((row) => [
      thousands(row.objects),
      `${row.toDedicatedSeconds.toFixed(1)} s`,
      `${row.toVirtualSeconds.toFixed(1)} s`,
      `${row.longestPauseMs.toFixed(0)} ms`,
      `${row.p99Ms.toFixed(0)} ms`,
      `+ ${row.serverGrowthMiB.toFixed(0)}`,
    ]),
  );

const pauseBar = ({ objects, longestPauseMs }: SizeRow): Bar => ({
  what: `${thousands(objects)} objects: longest pause of writes`,
  measured: longestPauseMs,
  bar: 1_000,
  must: 'at most',
  unit: ' ms',
});

const switchesTable = (switches: readonly Switch[]): string =>
  table(
    [
      'round',
      'to',
      'took',
      'held',
      'longest pause',
      'p99',
      'p99 afterwards',
      'objects changed',
      'node and controllers',
    ],
    switches.map((one) => [
      String(one.round),
      one.to,
      seconds(one.tookMs),
      `${one.heldMs} ms`,
      `${one.longestPauseMs.toFixed(0)} ms`,
      `${one.movingP99Ms.toFixed(0)} ms`,
      `${one.servedP99Ms.toFixed(0)} ms`,
      String(one.changed),
      one.nodeCheck ?? 'none',
    ]),
  );

const loadTable = (result: LoadResult): string =>
  table(
    ['migrations under load', ''],
    [
      ['migrations', String(result.switches.length)],
      ['objects', thousands(result.objects)],
      ['acknowledged writes', thousands(result.acknowledged)],
      ['lost, changed or duplicated writes', thousands(result.faults)],
      ['failed requests', thousands(result.failures)],
      ['p50 of a write', `${result.p50Ms.toFixed(1)} ms`],
      ['p99 of a write', `${result.p99Ms.toFixed(0)} ms`],
      ['longest write', `${result.longestMs.toFixed(0)} ms`],
      ['informers', String(result.informers)],
      ['lists of informers', String(result.relists)],
      ['writes that informers missed', thousands(result.missed)],
    ],
  );

const loadBars = (result: LoadResult): Bar[] => {
  const none = { bar: 0, must: 'at most', unit: '' } as const;
  const changed = result.switches.reduce((sum, one) => sum + one.changed, 0);
  const failedChecks = result.switches.filter(({ nodeCheck = 'ok' }) => nodeCheck !== 'ok').length;
  return [
    { what: 'p99 of writes', measured: result.p99Ms, bar: 1_000, must: 'at most', unit: ' ms' },
    { what: 'longest pause of writes', measured: result.longestPauseMs, bar: 1_000, must: 'at most', unit: ' ms' },
    { what: 'acknowledged writes that are lost, changed or duplicated', measured: result.faults, ...none },
    { what: 'writes that an informer has not seen', measured: result.missed, ...none },
    { what: 'objects with another UID or resourceVersion', measured: changed, ...none },
    { what: 'switches after which the node or the controllers do not work', measured: failedChecks, ...none },
  ];
};
