import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openMemoryStore } from '@hangar/store';
import { encrypted } from './encryption.ts';

const keys = '/registry/clusters/demo/.hangar/keys';
const secret = '/registry/clusters/root/secrets/default/a';

for (const key of [keys, secret]) {
  test(`no other key is made while the store has what only the lost one opens: ${key}`, async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'hangar-'));
    const store = await openMemoryStore();
    try {
      const pki = join(dataDirectory, 'pki');
      await mkdir(pki);
      const options = { dataDirectory, encryptionConfig: undefined, store: { type: 'embedded' } } as never;
      for (const path of ['a', 'b', 'z']) {
        await store.commit([{ type: 'put', key: `/registry/clusters/${path}/configmaps/x`, value: Buffer.from('{}') }]);
      }
      const sealing = await encrypted(store, '/registry', options);
      await rm(join(pki, 'encryption.yaml'));
      // Nothing is sealed yet: another key does no harm.
      await encrypted(store, '/registry', options);
      await sealing.commit([{ type: 'put', key, value: Buffer.from('hidden') }]);
      await rm(join(pki, 'encryption.yaml'));
      await assert.rejects(encrypted(store, '/registry', options), /encryption.yaml is missing/);
    } finally {
      await store.close();
      await rm(dataDirectory, { recursive: true, force: true });
    }
  });
}
