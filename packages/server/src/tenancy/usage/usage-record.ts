/** What a tenant has used since it was made, as it is stored in its range: added to by every server that serves it. */

export interface UsageCounters {
  /** Requests that change nothing. */
  readonly reads: number;
  readonly writes: number;
  readonly watchMs: number;
}

export interface UsageRecord extends UsageCounters {
  /** Of the last who added something: by it a writer whose answer was lost finds out whether it had written. */
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

/** What is no record is none: nothing depends on it but a figure. */
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
