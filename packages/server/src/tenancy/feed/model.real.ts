/** On a real etcd, a feed folds to what the tenants that there are have stored. */

import { test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import { openEtcdStore } from '@hangar/store/etcd';
import { insistOnFeedModel } from './model.ts';

test('a feed folds to what the tenants that there are have stored, on a real etcd', async () => {
  // Its own keys are elsewhere: only its etcd is wanted.
  await using real = await startRealServer(['--etcd-prefix=/elsewhere']);
  const store = await openEtcdStore({ endpoints: [real.etcdUrl] });
  try {
    await insistOnFeedModel(8, { store });
  } finally {
    await store.close();
  }
});
