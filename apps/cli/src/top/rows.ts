/** Computes rows from two samples: rates per second, and the order. */

import type { Recommendation } from './recommendations.ts';
import type { Sample, TenantSample } from './sample.ts';

export interface TopRow {
  readonly name: string;
  readonly uid: string;
  /** Requests per second between the two samples. Undefined: there is no earlier sample. */
  readonly rate: number | undefined;
  readonly watches: number;
  readonly memoryBytes: number;
  /** Share of the memory of all tenants; 0 to 1. */
  readonly memoryShare: number;
  readonly writes: number;
  readonly objects?: number;
  readonly storedBytes?: number;
  /** The operator recommends another mode. */
  readonly recommendation?: Recommendation;
}

export const sortings = ['requests', 'objects', 'bytes', 'memory', 'watches', 'name'] as const;
export type Sorting = (typeof sortings)[number];

/** Reports whether sorting requires the counts of all tenants. */
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

/** The counters of a tenant restart at 0 after it was idle, and for another tenant of the same name. */
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

/** Sorts in descending order; equal rows by name, so that their order is stable. */
export function sorted(rows: readonly TopRow[], sorting: Sorting): TopRow[] {
  const key = sorting === 'name' ? () => 0 : keys[sorting];
  return rows.toSorted((a, b) => key(b) - key(a) || (a.name < b.name ? -1 : 1));
}
