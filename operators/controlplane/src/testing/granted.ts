/** A server applies roles and bindings a moment after they were acknowledged, as kube-apiserver does: until then it refuses. */

import { hasCode, sleep, systemClock } from '@hangar/core';

const triesMax = 200;
const pauseMs = 5;

/** Resolves with the result of `ask` when it is no longer refused. */
export async function granted<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (!hasCode(error, 'Forbidden') || tries === triesMax) throw error;
      await sleep(systemClock, pauseMs);
    }
  }
}

/** Resolves when `ask` is refused. */
export async function refused(ask: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await ask();
    } catch (error) {
      if (hasCode(error, 'Forbidden')) return;
      throw error;
    }
    if (tries === triesMax) throw new Error('it is still allowed');
    await sleep(systemClock, pauseMs);
  }
}
