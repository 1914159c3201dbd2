/** The isolation suite on a real etcd. */

import { after, before } from 'node:test';
import { openEtcdStore } from '@hangar/store/etcd';
import { startEtcd } from '../../packages/store/src/drivers/etcd/testing/etcd-process.ts';
import type { EtcdCluster } from '../../packages/store/src/drivers/etcd/testing/etcd-process.ts';
import { isolation } from './suite.ts';

let etcd: EtcdCluster;

before(async () => {
  etcd = await startEtcd({ unsafeNoFsync: true });
});

after(() => etcd.stop());

isolation('tenants on etcd', {
  async open() {
    const store = await openEtcdStore({ endpoints: etcd.endpoints, prefix: '/registry/', requestTimeoutMs: 20_000 });
    return { store, close: () => store.close() };
  },
});
