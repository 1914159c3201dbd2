/** From two samples to rows: how much a second, and who comes first. */

import type { Sample, TenantSample } from './sample.ts';

export interface TopRow {
  readonly name: string;
  readonly uid: string;
  /** Requests a second between the two. Undefined: there is nothing to compare with yet. */
  readonly rate: number | undefined;
  readonly watches: number;
  readonly memoryBytes: number;
  /** Of all tenants' memory; 0 to 1. */
  readonly memoryShare: number;
  readonly writes: number;
  readonly objects?: number;
  readonly storedBytes?: number;
}

export const sortings = ['requests', 'objects', 'bytes', 'memory', 'watches', 'name'] as const;
export type Sorting = (typeof sortings)[number];

/** Those that must be counted, of everybody, before it is known who is first. */
export const isCountedFor = (sorting: Sorting): boolean => sorting === 'objects' || sorting === 'bytes';

export function rowsOf(now: Sample, before: Sample | undefined): TopRow[] {
  const earlier = new Map(before?.items.map((one) => [one.name, one]));
  const seconds = before === undefined ? 0 : (now.atMs - before.atMs) / 1_000;
  const memory = now.items.reduce((sum, one) => sum + one.memoryBytes, 0);
  return now.items.map(({ reads, ...item }) => ({
    ...item,
    rate: seconds > 0 ? grown({ reads, ...item }, earlier.get(item.name)) / seconds : undefined,
    memoryShare: memory === 0 ? 0 : item.memoryBytes / memory,
  }));
}

/** What was idle in between begins at 0 again; another tenant of the same name, too. */
function grown(now: TenantSample, before: TenantSample | undefined): number {
  const total = now.reads + now.writes;
  const known = before?.uid === now.uid ? before.reads + before.writes : 0;
  return known <= total ? total - known : total;
}

const keys: Readonly<Record<Exclude<Sorting, 'name'>, (row: TopRow) => number>> = {
  requests: ({ rate = 0 }) => rate,
  objects: ({ objects = 0 }) => objects,
  bytes: ({ storedBytes = 0 }) => storedBytes,
  memory: ({ memoryBytes }) => memoryBytes,
  watches: ({ watches }) => watches,
};

/** The most first; those that are equal by name, so that they do not jump. */
export function sorted(rows: readonly TopRow[], sorting: Sorting): TopRow[] {
  const key = sorting === 'name' ? () => 0 : keys[sorting];
  return rows.toSorted((a, b) => key(b) - key(a) || (a.name < b.name ? -1 : 1));
}
