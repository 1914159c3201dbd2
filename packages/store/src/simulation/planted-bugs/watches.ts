/** Watches that violate one guarantee each. */

import { chance } from '@hangar/core';
import type { Random } from '@hangar/core';
import type { Revision, Store, Watch, WatchBatch, WatchOptions } from '../../contract.ts';
import { CompactedError } from '../../errors.ts';
import { alteredStore, alteredWatch } from './altered.ts';

type AlterWatch = (watch: Watch, options: WatchOptions, random: Random) => Watch;

function watchesWith(alter: AlterWatch): (store: Store, world: { random: Random }) => Store {
  return (store, { random }) =>
    alteredStore(store, { watch: (options) => alter(store.watch(options), options, random) });
}

/** Continues behind compacted history without an error. */
export function gapAtCompaction(store: Store): Store {
  return alteredStore(store, {
    watch(options) {
      let watch = store.watch(options);
      return alteredWatch(watch, {
        async next() {
          for (;;) {
            try {
              return await watch.next();
            } catch (error) {
              if (!(error instanceof CompactedError)) throw error;
              watch = store.watch({ ...options, fromRevision: (error.compactedRevision + 1) as Revision });
            }
          }
        },
        requestProgress: () => watch.requestProgress(),
      });
    },
  });
}

/** Reads ahead into a small buffer and, when that is full, drops the oldest batch. */
export const droppedBatches = watchesWith((watch) => {
  const buffer: WatchBatch[] = [];
  let wake = Promise.withResolvers<void>();
  let end: { error?: unknown } | undefined;
  const pump = async () => {
    try {
      for (let batch = await watch.next(); batch; batch = await watch.next()) {
        if (buffer.push(batch) > 3) buffer.shift();
        wake.resolve();
      }
      end = {};
    } catch (error) {
      end = { error };
    }
    wake.resolve();
  };
  void pump();
  return alteredWatch(watch, {
    async next() {
      for (;;) {
        const batch = buffer.shift();
        if (batch) return batch;
        if (end?.error) throw end.error;
        if (end) return undefined;
        wake = Promise.withResolvers();
        await wake.promise;
      }
    },
  });
});

/** Delivers the events of every revision one by one. */
export const splitBatches = watchesWith((watch) => {
  const rest: WatchBatch[] = [];
  return alteredWatch(watch, {
    async next() {
      const waiting = rest.shift();
      if (waiting) return waiting;
      const batch = await watch.next();
      if (!batch || batch.events.length < 2) return batch;
      const { revision, events } = batch;
      const parts = events.map((event) => ({ revision, events: [event] }));
      rest.push(...parts.slice(1));
      return parts[0];
    },
  });
});

/** Delivers some batches twice. */
export const repeatedBatches = watchesWith((watch, _options, random) => {
  let again: WatchBatch | undefined;
  return alteredWatch(watch, {
    async next() {
      const batch = again ?? (await watch.next());
      again = again === undefined && chance(random, 0.02) ? batch : undefined;
      return batch;
    },
  });
});

/** Delivers some batches after their successor. */
export const swappedBatches = watchesWith((watch, _options, random) => {
  let held: WatchBatch | undefined;
  return alteredWatch(watch, {
    async next() {
      if (held) {
        const batch = held;
        held = undefined;
        return batch;
      }
      const batch = await watch.next();
      if (!batch || !chance(random, 0.05)) return batch;
      const overtaking = await watch.next();
      held = batch;
      return overtaking;
    },
  });
});

/** Begins one revision too early. */
export function resumesTooEarly(store: Store): Store {
  return alteredStore(store, {
    watch({ fromRevision, ...options }) {
      if (fromRevision === undefined || fromRevision < 3)
        return store.watch({ ...options, ...(fromRevision && { fromRevision }) });
      return store.watch({ ...options, fromRevision: (fromRevision - 1) as Revision });
    },
  });
}

/** Begins one revision too late. */
export function resumesTooLate(store: Store): Store {
  return alteredStore(store, {
    watch: ({ fromRevision, ...options }) => {
      return store.watch({ ...options, ...(fromRevision && { fromRevision: (fromRevision + 1) as Revision }) });
    },
  });
}

/** Marks the store's revision at once, before pending events. */
export function earlyMarks(store: Store): Store {
  return alteredStore(store, {
    watch(options) {
      const watch = store.watch(options);
      let asked = false;
      return alteredWatch(watch, {
        requestProgress() {
          asked = true;
          watch.requestProgress();
        },
        async next() {
          if (!asked) return watch.next();
          asked = false;
          return { revision: await store.revision(), events: [] };
        },
      });
    },
  });
}

/** Never answers a request for progress. */
export const noMarks = watchesWith((watch) => alteredWatch(watch, { requestProgress() {} }));

/** Watches the whole directory of the prefix. */
export function widePrefixes(store: Store): Store {
  return alteredStore(store, {
    watch: (options) =>
      store.watch({ ...options, prefix: options.prefix.slice(0, options.prefix.lastIndexOf('/') + 1) }),
  });
}
