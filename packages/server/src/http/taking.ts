/** Requires clients to read complete responses, if slowly: until then they are in memory. */

import type { Clock } from '@hangar/core';

/** Period in which the client must read a minimum of the remaining bytes. */
const takingTimeoutMs = 60_000;
const takenBytesMin = 16 * 1024;

/** Limits one write: a socket reports a write as flushed only when the client has read all of it. */
export const writtenBytesMax = 16 * 1024;

export interface Taking {
  /** Number of remaining bytes. */
  left(): number;
  /** Called when the client does not read. */
  drop(): void;
}

/** Watches the progress until the returned function is called. */
export function awaitTaken(clock: Clock, taking: Taking): () => void {
  let before = taking.left();
  const check = (): void => {
    const left = taking.left();
    if (before - left < takenBytesMin) return taking.drop();
    before = left;
    timer = clock.after(takingTimeoutMs, check);
  };
  let timer = clock.after(takingTimeoutMs, check);
  return () => timer.cancel();
}
