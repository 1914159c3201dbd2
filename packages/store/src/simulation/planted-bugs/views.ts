/** Layered views that leak the state below them. */

import type { Store, StoreEvent, Write } from '../../contract.ts';
import { noBytes } from '../../engine/rows.ts';
import { prefixRange } from '../../keys.ts';
import { alteredStore, alteredWatch } from './altered.ts';

interface View {
  /** The store below the view. */
  store: Store;
  root: string;
}

/** A listing shows the tombstones among the objects. */
export function listedTombstones(view: Store, { store, root }: View): Store {
  return alteredStore(view, {
    async range(range, options) {
      const result = await view.range(range, options);
      if (range.end !== undefined || options?.limit) return result;
      const hidden = await store.range(prefixRange(`${root}.hidden/`), { ...options, atRevision: result.revision });
      return { ...result, entries: [...hidden.entries, ...result.entries] };
    },
  });
}

/** A watch shows the tombstone of each object that is deleted. */
export function watchedTombstones(view: Store, { root }: View): Store {
  return alteredStore(view, {
    watch(options) {
      const watch = view.watch(options);
      return alteredWatch(watch, {
        async next() {
          const batch = await watch.next();
          const tombstones = batch?.events.flatMap((event): StoreEvent[] => {
            if (event.type === 'put') return [];
            const key = `${root}.hidden/${event.key.slice(root.length)}`;
            const { revision } = batch;
            const entry = { key, value: noBytes, createRevision: revision, modRevision: revision };
            return [{ type: 'put', entry: { ...entry, version: 1, lease: undefined } }];
          });
          return batch && { ...batch, events: [...batch.events, ...tombstones!] };
        },
      });
    },
  });
}

/** Finds the tenant by a prefix without its end: `t/1` also begins the keys of `t/10/`. */
export function mixedTenants(view: Store, { store, root }: View): Store {
  return alteredStore(view, {
    async range(range, options) {
      const result = await view.range(range, options);
      if (range.end !== undefined) return result;
      const near = await store.range(prefixRange(root.slice(0, -1)), { ...options, atRevision: result.revision });
      const others = near.entries.filter(({ key }) => !key.startsWith(root) && !key.includes('/.hidden/'));
      return { ...result, entries: [...result.entries, ...others] };
    },
  });
}

/** Planted below the views: a restored base entry keeps its tombstone. */
export function lastingTombstones(store: Store): Store {
  return alteredStore(store, {
    async commit(writes) {
      const kept = writes.filter((write) => !isUnhiding(write));
      const result = await store.commit(kept.map(alwaysHiding));
      return result.committed ? { ...result, deleted: result.deleted + writes.length - kept.length } : result;
    },
  });
}

function isUnhiding(write: Write): boolean {
  return write.type === 'delete' && write.key.includes('/.hidden/');
}

function alwaysHiding(write: Write): Write {
  if (write.type !== 'put' || !write.key.includes('/.hidden/')) return write;
  const { expected: _, ...unconditional } = write;
  return unconditional;
}
