/** An answer that is complete must be taken, if slowly: until then it is in memory. */

import type { Clock } from '@hangar/core';

/** In this time the other end must take so much of what is left for it. */
const takingTimeoutMs = 60_000;
const takenBytesMin = 16 * 1024;

/** Limits one write: a socket reports a write as taken only when the client has taken all of it. */
export const writtenBytesMax = 16 * 1024;

export interface Taking {
  /** How much is still here. */
  left(): number;
  /** Nobody takes it. */
  drop(): void;
}

/** Until what it returns is called. */
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
