/** The clusters as text: a line for each service, in columns like kubectl's. */

import { humanDuration } from '@hangar/api/ages';
import { services } from '../../contract.ts';
import { plain } from '../plain-text.ts';
import type { DescribedCluster, DescribedService } from './described.ts';

export interface TableOptions {
  /** Includes those of other replicas, with a column for the owner. */
  readonly isAll: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}

const none = '<none>';
const gap = 3;

/** Every line ends with a line feed. */
export function clustersTable(clusters: readonly DescribedCluster[], { isAll, now }: TableOptions): string {
  const head = ['CLUSTER', 'SERVICE', 'ENGINE', 'READY', 'STATUS', 'RESTARTS', 'AGE', 'PID', 'MESSAGE'];
  const rows = clusters
    .filter(({ isOwned }) => isOwned || isAll)
    .flatMap((cluster) => rowsOf(cluster, now).map((cells) => withOwned(cells, cluster.isOwned ? 'yes' : 'no', isAll)));
  if (rows.length === 0) return 'No clusters found.\n';
  return aligned([withOwned(head, 'OWNED', isAll), ...rows.map((cells) => cells.map(plain))]);
}

function rowsOf(cluster: DescribedCluster, now: number): string[][] {
  return services
    .filter((service) => cluster.services[service] || (!cluster.isOwned && cluster.registeredFor.includes(service)))
    .map((service) => [cluster.name, service, ...cellsOf(cluster.services[service], now)]);
}

function cellsOf(service: DescribedService | undefined, now: number): string[] {
  if (!service) return [none, '<unknown>', '<unknown>', none, none, none, 'served by another replica'];
  const { engine, ready, phase, restarts, startedAt, pid, message } = service;
  return [
    engine ?? none,
    ready ? 'True' : 'False',
    phase,
    String(restarts),
    startedAt === null ? none : humanDuration(now - Date.parse(startedAt)),
    pid === null ? none : String(pid),
    message,
  ];
}

const withOwned = (cells: readonly string[], owned: string, isAll: boolean): string[] =>
  isAll ? [...cells.slice(0, 2), owned, ...cells.slice(2)] : [...cells];

function aligned(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]!.map((_, at) => Math.max(...lines.map((line) => lengthOf(line[at]!))) + gap);
  const text = (line: readonly string[]): string =>
    line
      .map((cell, at) => cell + ' '.repeat(widths[at]! - lengthOf(cell)))
      .join('')
      .trimEnd();
  return lines.map((line) => `${text(line)}\n`).join('');
}

const lengthOf = (text: string): number => [...text].length;
