/** On a real etcd, folding a feed yields the stored objects of the existing tenants. */

import { test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import { openEtcdStore } from '@hangar/store/etcd';
import { insistOnFeedModel } from './model.ts';

test('a feed folds to what the tenants that there are have stored, on a real etcd', async () => {
  // Its own keys use another prefix: the test uses only its etcd.
  await using real = await startRealServer(['--etcd-prefix=/elsewhere']);
  const store = await openEtcdStore({ endpoints: [real.etcdUrl] });
  try {
    await insistOnFeedModel(8, { store, restoresRevisions: false });
  } finally {
    await store.close();
  }
});
