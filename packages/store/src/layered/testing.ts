/** A view on a store in memory, as the conformance suite opens it. */

import { seededRandom, systemClock } from '@hangar/core';
import { VirtualDisk } from '@hangar/core/simulation';
import type { Store } from '../contract.ts';
import type { OpenedStore } from '../conformance/harness.ts';
import { openMemoryStore } from '../drivers/memory/memory-store.ts';
import { layeredStore } from './layered-store.ts';
import type { LayeredStoreOptions } from './layered-store.ts';

type ViewOptions = Omit<LayeredStoreOptions, 'store'>;

/** `optionsFor`: asked once, when the store is empty. The tests have a place beside the base. */
export async function openView(optionsFor: (store: Store) => Promise<ViewOptions>): Promise<OpenedStore> {
  const disk = new VirtualDisk({ clock: systemClock, random: seededRandom(1), latencyMaxMs: 0 });
  let store = await openMemoryStore({ disk });
  const options = await optionsFor(store);
  let view = layeredStore({ ...options, store });
  return {
    store: view,
    prefix: `${options.prefix}tests/`,
    async reopen() {
      await view.close();
      await store.close();
      store = await openMemoryStore({ disk });
      return (view = layeredStore({ ...options, store }));
    },
    async close() {
      await view.close();
      await store.close();
    },
  };
}
