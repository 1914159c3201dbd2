/** Stores with a mistake between the caller and the engine. */

import { chance, sleep } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import type { Conflicted, Revision, Store, Write } from '../../contract.ts';
import { alteredStore } from './altered.ts';

/** Reads the conditions, waits, then writes without them: another transaction can come between. */
export function racingRevisions(store: Store, { clock }: { clock: Clock }): Store {
  return alteredStore(store, {
    async commit(writes) {
      const conflicts: Conflicted['conflicts'][number][] = [];
      const revision = await store.revision();
      for (const write of writes) {
        if (write.type === 'deleteRange' || write.expected === undefined) continue;
        const { entry } = await store.get(write.key);
        if ((entry?.modRevision ?? 0) !== write.expected) conflicts.push({ key: write.key, entry });
      }
      if (conflicts.length > 0) return { committed: false, revision, conflicts };
      await sleep(clock, 0);
      const unconditional = writes.filter((write) => write.type !== 'check').map(withoutCondition);
      return unconditional.length > 0 ? store.commit(unconditional) : { committed: true, revision, deleted: 0 };
    },
  });
}

function withoutCondition(write: Write): Write {
  if (write.type === 'deleteRange') return write;
  const { expected: _, ...rest } = write;
  return rest as Write;
}

/** Repeats a transaction without an answer, without checking whether it happened. */
export function repeatedWrites(store: Store, { random }: { random: Random }): Store {
  return alteredStore(store, {
    async commit(writes) {
      const result = await store.commit(writes);
      if (result.committed && chance(random, 0.02)) {
        await store.commit(writes.filter((write) => write.type !== 'check').map(withoutCondition)).catch(() => {});
      }
      return result;
    },
  });
}

/** A cache of the current revision that commits do not update. */
export function staleReads(store: Store, { random }: { random: Random }): Store {
  let cached: Revision | undefined;
  return alteredStore(store, {
    async get(key, options) {
      if (options?.atRevision !== undefined) return store.get(key, options);
      if (cached === undefined || chance(random, 0.5)) cached = await store.revision();
      return store.get(key, { atRevision: cached }).catch(() => store.get(key));
    },
  });
}

/** Timers of a second or more never fire: no lease expires. */
export function noLongTimers(clock: Clock): Clock {
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    soon: (callback) => clock.soon(callback),
    after: (delayMs, callback) => (delayMs < 900 ? clock.after(delayMs, callback) : { cancel: () => {} }),
  };
}
