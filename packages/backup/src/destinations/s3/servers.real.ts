/** The conformance suite on two real S3 servers. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startMoto, startVersitygw } from '../../testing/s3-servers.ts';
import type { S3Server } from '../../testing/s3-servers.ts';
import { collected, inPieces } from '../../testing/streams.ts';
import { describeDestination, names } from '../conformance/index.ts';
import { openDestination } from '../destination.ts';
import { s3Storage } from './s3-storage.ts';
import type { S3StorageOptions } from './s3-storage.ts';

const mebibyte = 1024 * 1024;

for (const [name, start, hasChecksums] of [
  ['versitygw', startVersitygw, true],
  // Reports no checksum for an upload in parts: all bytes are read again.
  ['moto', startMoto, false],
] as const) {
  describe(name, () => {
    let server: S3Server;
    let buckets = 0;
    const opened: { close(): void }[] = [];

    const open = async (options: Partial<S3StorageOptions> = {}) => {
      const bucket = `bucket-${++buckets}`;
      await server.createBucket(bucket);
      const { endpoint, credentials } = server;
      const storage = s3Storage({
        bucket,
        endpoint,
        credentials,
        partBytes: 5 * mebibyte,
        backOff: { baseMs: 10, maxMs: 50 },
        ...options,
      });
      opened.push(storage);
      return storage;
    };

    before(
      async () => {
        server = await start();
      },
      { timeout: 20 * 60_000 },
    );
    after(async () => {
      for (const one of opened) one.close();
      await server[Symbol.asyncDispose]();
    });

    // Two full parts and a short one.
    describeDestination(name, { open, largeBytes: 10 * mebibyte + 12_345 });

    test('verifies an upload by the checksum that the server computed', async () => {
      const storage = await open({ prefix: 'team/a(b)' });
      for (const bytes of [Buffer.from('small'), Buffer.alloc(11 * mebibyte, 'large')]) {
        const { isVerified } = await storage.upload(`key-${bytes.length}`, inPieces(bytes));
        if (bytes.length > mebibyte) assert.equal(isVerified, hasChecksums);
        assert.ok((await collected(storage.read(`key-${bytes.length}`))).equals(bytes));
      }
      const listed = (await Array.fromAsync(storage.list(''))).map(({ key }) => key);
      assert.deepEqual(listed, [`key-${11 * mebibyte}`, 'key-5']);
    });

    test('reports a bucket that does not exist', async () => {
      const { endpoint, credentials } = server;
      const destination = openDestination(s3Storage({ bucket: 'nowhere', endpoint, credentials }));
      const content = () => inPieces(Buffer.from('x'));
      await assert.rejects(destination.put('one', content()), { code: 'BucketNotFound', message: /NoSuchBucket/ });
      await assert.rejects(names(destination), { code: 'BucketNotFound' });
    });
  });
}
