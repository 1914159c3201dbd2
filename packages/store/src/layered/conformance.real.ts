/** Runs the conformance suite of the store on layered views, with and without a fence. */

import { seededRandom, systemClock } from '@hangar/core';
import { VirtualDisk } from '@hangar/core/simulation';
import { storeConformance } from '../conformance/index.ts';
import type { OpenedStore } from '../conformance/index.ts';
import type { Store } from '../contract.ts';
import { openMemoryStore } from '../drivers/memory/memory-store.ts';
import { transactionWritesMax } from '../limits.ts';
import { BaseLayer } from './base-layer.ts';
import { layeredStore } from './layered-store.ts';
import type { LayeredStoreOptions } from './layered-store.ts';

const prefix = '/registry/clusters/demo/';
const fenceKey = `${prefix}.hangar/tenant`;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const base = new BaseLayer(
  ['namespaces/default', 'namespaces/kube-public', 'namespaces/kube-system', 'clusterroles/admin'].map((key) => ({
    key,
    value: bytes(`base ${key}`),
  })),
);

storeConformance('a layered view', {
  open: () => openView(async (store) => ({ prefix, base, baseRevision: await store.revision() })),
});

// The fence takes one of the conditions that a transaction may have.
storeConformance('a fenced view', {
  open: async () => ({
    ...(await openView(async (store) => {
      const { revision } = await store.commit([{ type: 'put', key: fenceKey, value: bytes('born') }]);
      return { prefix, base, baseRevision: revision, fence: { key: fenceKey, revision } };
    })),
    conditionsMax: transactionWritesMax - 1,
  }),
});

type ViewOptions = Omit<LayeredStoreOptions, 'store'>;

/** Opens a view on a store in memory. `optionsFor` receives the empty store. The tests write to keys outside the base. */
async function openView(optionsFor: (store: Store) => Promise<ViewOptions>): Promise<OpenedStore> {
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
