/**
 * For read-change-write against a server: the whole of it again when somebody else wrote in between. `attempt` must read anew
 * each time, and from the server: what a cache has may still be what conflicted.
 *
 * A reconciler seldom needs it: a conflict that is thrown brings it back with back-off, and by then the cache knows better.
 */

import { hasCode, sleep, systemClock, systemRandom } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';

export interface RetryOptions {
  /** With the first one. Absent: 5, as client-go has it. */
  readonly attemptsMax?: number;
  /** Before the second attempt; absent: 10. */
  readonly delayMs?: number;
  /** Of the delay, from attempt to attempt; absent: 2. */
  readonly factor?: number;
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** Rejects with the last `Conflict`, or at once with whatever else; `Aborted` while it waits. */
export async function retryOnConflict<T>(attempt: () => Promise<T>, options: RetryOptions = {}): Promise<T> {
  const { attemptsMax = 5, delayMs = 10, factor = 2, signal, clock = systemClock, random = systemRandom } = options;
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (!hasCode(error, 'Conflict') || attempts >= attemptsMax) throw error;
    }
    // Those who collided once must not meet again: up to half as much more.
    await sleep(clock, delayMs * factor ** (attempts - 1) * (1 + random.fraction() / 2), signal);
  }
}
