/**
 * Stops worlds that make no progress: code that retries without waiting would stop virtual time, and with it the whole simulation. Beyond a
 * limit its calls are not answered.
 */

import type { Clock } from '@hangar/core';
import type { Store } from '../contract.ts';
import { alteredStore } from './planted-bugs/altered.ts';

/** Far more than all clients of a world make in one instant. */
const callsPerInstantMax = 5_000;

export function stoppedWhenRunningAway(store: Store, clock: Clock, onRunaway: () => void): Store {
  let instantMs = -1;
  let calls = 0;
  const counted = async <T>(call: () => Promise<T>): Promise<T> => {
    const nowMs = clock.monotonicMs();
    calls = nowMs === instantMs ? calls + 1 : 1;
    instantMs = nowMs;
    if (calls < callsPerInstantMax) return call();
    onRunaway();
    return new Promise(() => {});
  };
  return alteredStore(store, {
    get: (key, options) => counted(() => store.get(key, options)),
    range: (range, options) => counted(() => store.range(range, options)),
    commit: (writes) => counted(() => store.commit(writes)),
  });
}
