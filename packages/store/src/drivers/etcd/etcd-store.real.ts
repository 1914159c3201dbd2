/** Runs the conformance suite on a real etcd that all its tests share. Each test has its own prefix. */

import { after, before } from 'node:test';
import { storeConformance } from '../../conformance/index.ts';
import type { Store } from '../../contract.ts';
import { openEtcdStore } from './etcd-store.ts';
import { startEtcd } from './testing/etcd-process.ts';
import type { EtcdCluster } from './testing/etcd-process.ts';

let etcd: EtcdCluster;
let opened = 0;

before(async () => {
  etcd = await startEtcd({ unsafeNoFsync: true });
});

after(() => etcd.stop());

/** Without recent history in memory, every watch from the past is a separate etcd watch. */
for (const [name, recentHistoryBytesMax] of Object.entries({ etcd: undefined, 'etcd without recent history': 0 })) {
  storeConformance(name, {
    async open() {
      const prefix = `/conformance/${++opened}/`;
      const openStore = () =>
        openEtcdStore({
          endpoints: etcd.endpoints,
          prefix,
          requestTimeoutMs: 20_000,
          ...(recentHistoryBytesMax !== undefined && { recentHistoryBytesMax }),
        });
      const stores: Store[] = [await openStore()];
      const close = async () => {
        await Promise.all(stores.map((store) => store.close()));
      };
      return {
        store: stores[0]!,
        prefix,
        refusesRestored: true,
        async reopen() {
          await close();
          const store = await openStore();
          stores.push(store);
          return store;
        },
        close,
      };
    },
  });
}
