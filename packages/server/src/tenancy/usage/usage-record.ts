/** Stored record of a tenant's usage since creation, in its range; every server that serves the tenant adds to it. */

export interface UsageCounters {
  /** Requests that change nothing. */
  readonly reads: number;
  readonly writes: number;
  readonly watchMs: number;
}

export interface UsageRecord extends UsageCounters {
  /** Mark of the last writer. A writer that got no response uses it to find out whether its write was committed. */
  readonly mark: string;
}

export const noUsage: UsageCounters = { reads: 0, writes: 0, watchMs: 0 };

export const isNothing = ({ reads, writes, watchMs }: UsageCounters): boolean =>
  reads === 0 && writes === 0 && watchMs === 0;

export const addUsage = (a: UsageCounters, b: UsageCounters): UsageCounters => ({
  reads: a.reads + b.reads,
  writes: a.writes + b.writes,
  watchMs: a.watchMs + b.watchMs,
});

export const encodeUsage = ({ reads, writes, watchMs }: UsageCounters, mark: string): Buffer =>
  Buffer.from(JSON.stringify({ reads, writes, watchMs: Math.round(watchMs), mark }));

/** An invalid value counts as no record: only statistics depend on it. */
export function decodeUsage(value: Uint8Array | undefined): UsageRecord {
  if (!value) return { ...noUsage, mark: '' };
  try {
    const { reads, writes, watchMs, mark } = JSON.parse(Buffer.from(value).toString()) as Partial<UsageRecord>;
    return {
      reads: Number(reads) || 0,
      writes: Number(writes) || 0,
      watchMs: Number(watchMs) || 0,
      mark: String(mark),
    };
  } catch {
    return { ...noUsage, mark: '' };
  }
}
