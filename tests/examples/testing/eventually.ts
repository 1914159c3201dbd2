/** Waits for a condition. */

import { setTimeout as sleep } from 'node:timers/promises';
import { asError } from '@hangar/core';

const askEveryMs = 50;

/**
 * Resolves with the first result of `probe` that is not undefined; its errors are ignored until the timeout, which reports the last one.
 */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | undefined | false | null>,
  withinMs = 30_000,
): Promise<T> {
  const endMs = performance.now() + withinMs;
  for (;;) {
    let last: unknown;
    try {
      const found = await probe();
      if (found !== undefined && found !== false && found !== null) return found;
      last = found;
    } catch (error) {
      last = asError(error).message;
    }
    if (performance.now() > endMs) throw new Error(`not within ${withinMs} ms: ${what} (last: ${String(last)})`);
    await sleep(askEveryMs);
  }
}
