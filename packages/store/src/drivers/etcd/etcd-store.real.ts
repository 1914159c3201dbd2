/** The conformance suite on a real etcd, which all its tests share: each has a prefix of its own. */

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

/** Without memory of recent history, every watch from the past is one of etcd's own. */
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
