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

/** Returns the shortest time and the least CPU time, each of any round: others had to share the machine. */
export const best = (rounds: readonly Measured[]): Measured => ({
  unitMs: Math.min(...rounds.map(({ unitMs }) => unitMs)),
  cpuMs: Math.min(...rounds.map(({ cpuMs }) => cpuMs)),
});

/** Returns how many times faster ours is. */
export const ratio = (theirs: Measured, ours: Measured): number => theirs.unitMs / ours.unitMs;

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
