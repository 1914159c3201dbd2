/** On a real etcd, the stream of all control planes folds to what each of them lists. */

import { test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import { openEtcdStore } from '@hangar/store/etcd';
import { insistOnModel } from './model.ts';

test('the stream of all control planes folds to what each of them lists, on a real etcd', async () => {
  // Its own keys are elsewhere: only its etcd is wanted.
  await using real = await startRealServer(['--etcd-prefix=/elsewhere']);
  const store = await openEtcdStore({ endpoints: [real.etcdUrl] });
  try {
    await insistOnModel(8, store);
  } finally {
    await store.close();
  }
});
