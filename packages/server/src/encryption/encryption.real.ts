/** A real kube-apiserver and Hangar on one etcd, with one configuration: each decrypts values of the other. */

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import { systemRandom } from '@hangar/core';
import { openEtcdStore } from '@hangar/store/etcd';
import { encryptionOf } from './configuration.ts';
import { EncryptedStore } from './encrypted-store.ts';

const configuration = (provider: string): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [
      {
        resources: ['secrets'],
        providers: [
          { [provider]: { keys: [{ name: 'key1', secret: Buffer.alloc(32, 7).toString('base64') }] } },
          { identity: {} },
        ],
      },
    ],
  });

const secrets = '/api/v1/namespaces/default/secrets';
const key = (name: string): string => `/registry/clusters/root/secrets/default/${name}`;

for (const provider of ['aesgcm', 'secretbox', 'aescbc']) {
  test(`values sealed with ${provider} are read by both servers`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hangar-encryption-'));
    try {
      const file = join(folder, 'encryption.json');
      await writeFile(file, configuration(provider));
      await using real = await startRealServer([
        `--encryption-provider-config=${file}`,
        '--etcd-prefix=/registry/clusters/root',
        '--storage-media-type=application/json',
      ]);
      const etcd = await openEtcdStore({ endpoints: [real.etcdUrl] });
      try {
        const ours = new EncryptedStore(etcd, encryptionOf(configuration(provider), '/registry', systemRandom));
        const posted = await real.request('POST', secrets, {
          body: JSON.stringify({ metadata: { name: 'theirs' }, stringData: { password: 'guess' } }),
        });
        assert.equal(posted.status, 201, posted.body.toString());
        const raw = Buffer.from((await etcd.get(key('theirs'))).entry!.value);
        assert.match(raw.toString('latin1'), new RegExp(`^k8s:enc:${provider}:v1:key1:`));
        const { entry } = await ours.get(key('theirs'));
        const object = JSON.parse(Buffer.from(entry!.value).toString()) as {
          metadata: { name: string };
          data: { password: string };
        };
        assert.equal(Buffer.from(object.data.password, 'base64').toString(), 'guess');
        object.metadata.name = 'ours';
        await ours.commit([{ type: 'put', key: key('ours'), value: Buffer.from(JSON.stringify(object)) }]);
        const read = await real.request('GET', `${secrets}/ours`);
        assert.equal(read.status, 200, read.body.toString());
        assert.deepEqual((JSON.parse(read.body.toString()) as typeof object).data, object.data);
      } finally {
        await etcd.close();
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}
