/** Compares the two servers kind by kind, and with more connections: each pair on fresh servers, which take turns. */

import { Usage } from '../../scripts/command-line.ts';
import type { Bar } from '../bars.ts';
import { table, thousands } from '../table.ts';
import type { Protocol } from './connection.ts';
import { kinds } from './kinds.ts';
import type { BenchKind } from './kinds.ts';
import type { Server } from './servers.ts';
import { connectionsDefault, measure, prepare } from './work.ts';
import type { Measured, Work } from './work.ts';

/** One run of works on a pair of fresh servers. */
export interface Comparison {
  readonly kind: BenchKind;
  readonly connections: number;
  readonly works: readonly Work[];
}

const kindWorks: readonly Work[] = ['create', 'get', 'list', 'update', 'merge patch', 'server-side apply'];
const connectionWorks: readonly Work[] = ['create', 'get', 'update'];

export interface Selection {
  /** Names of kinds; empty: ConfigMaps and Pods. */
  readonly kinds: readonly string[];
  /** Numbers of connections; empty: the usual one. */
  readonly connections: readonly number[];
}

/** Every selected kind with every selected number of connections: all works for named kinds, else a few. Throws Usage. */
export function comparisons({ kinds: names, connections }: Selection): Comparison[] {
  const plurals = names.length > 0 ? names : ['configmaps', 'pods'];
  const numbers = connections.length > 0 ? connections : [connectionsDefault];
  return plurals.flatMap((plural) => {
    const kind = Object.hasOwn(kinds, plural) ? kinds[plural]! : undefined;
    if (!kind) throw new Usage(`unknown kind "${plural}"; the kinds are ${Object.keys(kinds).join(', ')}`, 2);
    const works = names.length > 0 ? worksOf(kind) : connectionWorks;
    return numbers.map((number) => ({ kind, connections: number, works }));
  });
}

const worksOf = ({ needsResourceVersion }: BenchKind): readonly Work[] =>
  kindWorks.filter((work) => work !== 'update' || !needsResourceVersion);

/** All kinds with the usual number of connections, and ConfigMaps and Pods with more. */
export const everything = (): Comparison[] => [
  ...comparisons({ kinds: Object.keys(kinds).filter((plural) => plural !== 'configmaps'), connections: [] }),
  ...comparisons({ kinds: [], connections: [64, 256] }),
];

export interface CompareOptions {
  readonly startTheirs: () => Promise<Server>;
  readonly startOurs: () => Promise<Server>;
  readonly protocol: Protocol;
  readonly durationMs: number;
}

/** Prints a table for each comparison; returns its bars: three times the throughput (apply: twice), a quarter of the CPU. */
export async function compare(all: readonly Comparison[], options: CompareOptions): Promise<Bar[]> {
  const bars: Bar[] = [];
  for (const comparison of all) {
    const theirs = await figures(options.startTheirs, comparison, options);
    const ours = await figures(options.startOurs, comparison, options);
    const label = `${comparison.kind.plural}, ${comparison.connections} connections`;
    const rows: string[][] = [];
    for (const work of comparison.works) {
      const [a, b] = [theirs.get(work)!, ours.get(work)!];
      const [throughput, cpu] = [b.perSecond / a.perSecond, a.cpuMs / b.cpuMs];
      rows.push([
        work,
        thousands(a.perSecond),
        thousands(b.perSecond),
        throughput.toFixed(2),
        a.cpuMs.toFixed(3),
        b.cpuMs.toFixed(3),
        cpu.toFixed(2),
        `${a.p99Ms.toFixed(1)}`,
        `${b.p99Ms.toFixed(1)}`,
      ]);
      const bar = work === 'server-side apply' ? 2 : 3;
      bars.push({ what: `${label}: ${work}`, measured: throughput, bar, must: 'at least' });
      bars.push({ what: `${label}: ${work}, by CPU`, measured: cpu, bar: 4, must: 'at least' });
    }
    const header = [
      label,
      'kube/s',
      'hangar/s',
      'ratio',
      'kube CPU ms',
      'hangar CPU ms',
      'ratio',
      'kube p99 ms',
      'hangar p99 ms',
    ];
    console.log(`\n${table(header, rows)}`);
  }
  return bars;
}

async function figures(
  start: () => Promise<Server>,
  { kind, connections, works }: Comparison,
  { protocol, durationMs }: CompareOptions,
): Promise<ReadonlyMap<Work, Measured>> {
  const server = await start();
  try {
    await prepare(server, kind);
    const measured = new Map<Work, Measured>();
    for (const work of works) {
      // Both servers compile or grow their heaps first; the second round counts.
      await measure(server, work, { protocol, kind, connections, round: 100, ...warmUp(work, durationMs) });
      measured.set(work, await measure(server, work, { protocol, kind, connections, round: 0, durationMs }));
    }
    return measured;
  } finally {
    await server.stop();
  }
}

/** By requests: on a busy machine, a short time is not enough to compile what requests run. Lists compile next to nothing. */
const warmUpRequests = 3_000;

const warmUp = (work: Work, durationMs: number): { durationMs: number; requestsMax?: number } =>
  work === 'list' ? { durationMs: durationMs / 2 } : { durationMs: 5 * durationMs, requestsMax: warmUpRequests };
