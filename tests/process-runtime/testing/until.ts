/** Waits for a state. */

import { setTimeout as delay } from 'node:timers/promises';

const untilMs = 180_000;

/** Resolves with the first result that is neither undefined nor false. Rejects on timeout with a description of the state. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  describe: () => Promise<string> | string = () => '',
): Promise<T> {
  const fromMs = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() - fromMs > untilMs) throw new Error(`${what}: not within ${untilMs} ms\n${await describe()}`);
    await delay(100);
  }
}
