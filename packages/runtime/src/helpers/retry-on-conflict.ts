/**
 * Repeats a read-change-write cycle when another writer changed the object in between. `attempt` must read the object each time, and from
 * the server: a cache may still have the version that conflicted.
 *
 * Reconcilers rarely need it: a conflict that is thrown requeues the request with back-off, and by then the cache is up to date.
 */

import { hasCode, sleep, systemClock, systemRandom } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';

/** Options of `retryOnConflict`. */
export interface RetryOptions {
  /** Maximum number of attempts, including the first. Absent: 5, as in client-go. */
  readonly attemptsMax?: number;
  /** Delay before the second attempt. Absent: 10 ms. */
  readonly delayMs?: number;
  /** Factor by which the delay grows. Absent: 2. */
  readonly factor?: number;
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock;
  readonly random?: Random;
}

/**
 * Repeats the attempt while it rejects with `Conflict`. Rejects with the last `Conflict`, immediately with any other error, and with
 * `Aborted` while waiting.
 *
 *     await retryOnConflict(async () => {
 *       const object = await client.get(ConfigMap, key);
 *       await client.update(ConfigMap, { ...object, data: { ...object.data, mode: 'fast' } });
 *     });
 */
export async function retryOnConflict<T>(attempt: () => Promise<T>, options: RetryOptions = {}): Promise<T> {
  const { attemptsMax = 5, delayMs = 10, factor = 2, signal, clock = systemClock, random = systemRandom } = options;
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (!hasCode(error, 'Conflict') || attempts >= attemptsMax) throw error;
    }
    // Jitter of up to 50 %, so that colliding writers do not collide again.
    await sleep(clock, delayMs * factor ** (attempts - 1) * (1 + random.fraction() / 2), signal);
  }
}
