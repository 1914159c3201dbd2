/** `hangar backup` and `hangar restore` with a real S3 server over TLS. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startVersitygw } from '@hangar/backup/testing';
import { defineKind } from '@hangar/client';
import type { ApiObject } from '@hangar/client';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import { makePlane } from '../../apps/cli/src/testing/plain-operator.ts';
import { openTestWorld } from '../../apps/cli/src/testing/test-session.ts';

const ConfigMap = defineKind<ApiObject>({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  isNamespaced: true,
});

test(
  'a control plane moves through a bucket, encrypted, over TLS with a custom CA',
  { timeout: 20 * 60_000 },
  async () => {
    await using world = await openTestWorld();
    const system = { clock: systemClock, random: systemRandom };
    const authority = createAuthority('backup test', 1, system);
    const server = issueCertificate(
      authority,
      { commonName: 's3', hosts: ['127.0.0.1'], usage: 'server', days: 1 },
      system,
    );
    const file = async (name: string, content: string): Promise<string> => {
      await writeFile(join(world.folder, name), content);
      return join(world.folder, name);
    };
    const tls = { cert: await file('s3.crt', server.certificate), key: await file('s3.key', server.key) };
    await file('ca.crt', authority.certificate);
    await file('backup.key', Buffer.alloc(32, 7).toString('base64'));
    await using s3 = await startVersitygw({ tls });
    await s3.createBucket('backups');
    const env = {
      ...world.env,
      AWS_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
      AWS_ENDPOINT_URL: s3.endpoint,
      AWS_CA_BUNDLE: 'ca.crt',
    };
    const run = (...words: string[]) => world.runIn({ env }, ...words);
    await makePlane(world.client, 'demo');
    await world.fleet.clientOf('demo').create(ConfigMap, { metadata: { namespace: 'default', name: 'kept' } });

    const address = 's3://backups/team/demo';
    const taken = await run('backup', 'demo', '-o', address, '--key-file', 'backup.key');
    assert.equal(taken.code, 0, taken.err);
    assert.match(taken.err, /^control plane demo written to s3:\/\/backups\/team\/demo \(.*B\)\n$/);
    const again = await run('backup', 'demo', '-o', address, '--key-file', 'backup.key');
    assert.equal(again.code, 0, again.err);

    const restored = await run('restore', 'copy', '-f', address, '--key-file', 'backup.key', '--no-wait');
    assert.equal(restored.code, 0, restored.err);
    const key = { namespace: 'default', name: 'kept' };
    assert.equal((await world.fleet.clientOf('copy').get(ConfigMap, key)).metadata.name, 'kept');

    const absent = await run('restore', 'other', '-f', 's3://backups/team/absent', '--no-wait');
    assert.match(absent.err, /there is no backup absent in s3:\/\/backups\/team/);
    assert.match(
      (await run('backup', 'demo', '-o', 's3://nowhere/demo')).err,
      /the bucket does not exist .*\n.*create the bucket/,
    );
    const wrong = await world.runIn(
      { env: { ...env, AWS_SECRET_ACCESS_KEY: 'wrong' } },
      'backup',
      'demo',
      '-o',
      address,
    );
    assert.match(wrong.err, /the secret access key is wrong/);
    const untrusted = await world.runIn({ env: { ...env, AWS_CA_BUNDLE: '' } }, 'backup', 'demo', '-o', address);
    assert.match(untrusted.err, /set the CA of the server/);
  },
);
