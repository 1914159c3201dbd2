/** Figures of one work. */

export interface Measured {
  /** Milliseconds of one unit: the whole transfer, or one round trip. */
  readonly unitMs: number;
  /** CPU time of the server for the whole measurement. */
  readonly cpuMs: number;
}

/** `cpuMs` returns the CPU time of the server so far. */
export async function measuredOf(work: () => Promise<number>, cpuMs: () => number): Promise<Measured> {
  const beforeMs = cpuMs();
  const unitMs = await work();
  return { unitMs, cpuMs: cpuMs() - beforeMs };
}

/** Rounds in which both servers did the work, one after the other. */
export interface Compared {
  readonly theirs: readonly Measured[];
  readonly ours: readonly Measured[];
}

/** Returns the median of the times and of the CPU times. */
export const medianOf = (rounds: readonly Measured[]): Measured => ({
  unitMs: median(rounds.map(({ unitMs }) => unitMs)),
  cpuMs: median(rounds.map(({ cpuMs }) => cpuMs)),
});

/**
 * Returns how many times less ours needs: the median of the ratios of the rounds. Programs beside the benchmark slow the two works of a
 * round alike, but not the rounds.
 */
export const ratio = ({ theirs, ours }: Compared, of: keyof Measured): number =>
  median(theirs.map((one, round) => one[of] / ours[round]![of]));

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Returns the figure with its unit: a rate for a transfer, else a time. */
export function unitOf(
  work: { readonly isTransfer: boolean },
  { unitMs }: Measured,
  sizes: { readonly bytes: number },
): string {
  return work.isTransfer
    ? `${(sizes.bytes / (1024 * 1024) / (unitMs / 1000)).toFixed(0)} MiB/s`
    : `${unitMs.toFixed(2)} ms`;
}
