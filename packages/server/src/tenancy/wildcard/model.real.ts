/** Checks that folding the stream of all control planes yields the lists of each: more seeds, on disk, and on a real etcd. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import { systemRandom } from '@hangar/core';
import { openEmbeddedStore } from '@hangar/store';
import { openEtcdStore } from '@hangar/store/etcd';
import { encryptionOf } from '../../encryption/configuration.ts';
import { EncryptedStore } from '../../encryption/encrypted-store.ts';
import { insistOnModel } from './model.ts';

for (const seed of [3, 4, 5, 6]) {
  test(`the stream of all control planes folds to what each of them lists, seed ${seed}`, () => insistOnModel(seed));
}

test('so it does on disk, with sealed values', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'hangar-wildcard-'));
  const configuration = JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [
      {
        resources: ['configmaps', 'secrets'],
        providers: [{ aesgcm: { keys: [{ name: 'key1', secret: Buffer.alloc(32, 7).toString('base64') }] } }],
      },
    ],
  });
  try {
    const disk = await openEmbeddedStore({ directory });
    const store = new EncryptedStore(disk, encryptionOf(configuration, '/registry', systemRandom));
    await insistOnModel(7, { store });
    await store.close();
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('the stream of all control planes folds to what each of them lists, on a real etcd', async () => {
  // Its own keys use another prefix: the test uses only its etcd.
  await using real = await startRealServer(['--etcd-prefix=/elsewhere']);
  const store = await openEtcdStore({ endpoints: [real.etcdUrl] });
  try {
    await insistOnModel(8, { store, restoresRevisions: false });
  } finally {
    await store.close();
  }
});
