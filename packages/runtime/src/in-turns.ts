/** Processes many items in small batches, with I/O between them. */

import { breathe } from '@hangar/core';
import type { Clock } from '@hangar/core';

export interface InTurnsOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** Absent: 500, for items that take microseconds. */
  readonly atOnce?: number;
}

/** Stops and resolves with false when the signal is aborted. Rejects with errors of `items` or `each`. */
export async function inTurns<T>(
  { clock, signal, atOnce = 500 }: InTurnsOptions,
  items: Iterable<T>,
  each: (item: T) => void,
): Promise<boolean> {
  let count = 0;
  for (const item of items) {
    if (signal?.aborted) return false;
    each(item);
    if (++count % atOnce === 0) await breathe(clock);
  }
  return !signal?.aborted;
}
