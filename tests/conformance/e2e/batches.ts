/** Groups specs for one process of the test program each: its start takes time, and a spec that hangs blocks its group. */

import type { Spec } from './specs.ts';

/** Overhead of a spec: its namespace, created and deleted. */
const overheadSeconds = 0.5;
const defaultBatchSeconds = 25;
const defaultMarginSeconds = 60;

/** The longest specs come first, so that none of them delays the end. */
export function batchesOf(specs: readonly Spec[], batchSeconds = defaultBatchSeconds): Spec[][] {
  const batches: Spec[][] = [];
  let seconds = Infinity;
  for (const spec of specs.toSorted((a, b) => b.seconds - a.seconds)) {
    if (seconds + spec.seconds + overheadSeconds > batchSeconds) {
      batches.push([]);
      seconds = 0;
    }
    batches.at(-1)!.push(spec);
    seconds += spec.seconds + overheadSeconds;
  }
  return batches;
}

/** Timeout of a batch: generous, because the machine may be busy; bounded, because a spec may wait for ever. */
export const timeoutSecondsOf = (batch: readonly Spec[], marginSeconds = defaultMarginSeconds): number =>
  marginSeconds + 3 * batch.reduce((sum, spec) => sum + spec.seconds + overheadSeconds, 0);
