/** Long work on many things, a few at once: input and output get through in between. */

import { breathe } from '@hangar/core';
import type { Clock } from '@hangar/core';

export interface InTurnsOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** Absent: 500, of what takes microseconds. */
  readonly atOnce?: number;
}

/** Stops, with false, as soon as the signal fires. Rejects with what `items` or `each` throw. */
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
