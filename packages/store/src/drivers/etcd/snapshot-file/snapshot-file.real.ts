/** Snapshots of a real etcd, compared with `etcdutl snapshot status` and with a range of the running member. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { seededRandom } from '@hangar/core';
import { tool } from '../../../../../../tools/tool.ts';
import { openEtcdStore } from '../etcd-store.ts';
import { openEtcdMaintenance } from '../maintenance.ts';
import { startEtcd } from '../testing/etcd-process.ts';
import { ContentDigest, isVolatile } from './content-digest.ts';
import { readSnapshotFile } from './snapshot-file.ts';

const run = promisify(execFile);

interface Status {
  readonly revision: number;
  readonly totalSize: number;
}

test('snapshots have the revision that etcdutl reports, and the keys and the digest of the running etcd', async (context) => {
  const etcd = await startEtcd({ unsafeNoFsync: true });
  context.after(() => etcd.stop());
  const store = await openEtcdStore({ endpoints: etcd.endpoints, requestTimeoutMs: 30_000 });
  const maintenance = openEtcdMaintenance({ endpoints: etcd.endpoints });
  const etcdutl = await tool('etcdutl');
  const random = seededRandom(18);
  const check = async (name: string): Promise<void> => {
    const path = join(etcd.folder, name);
    await pipeline(Readable.from(maintenance.snapshot(), { objectMode: true }), createWriteStream(path));
    const { stdout } = await run(etcdutl, ['snapshot', 'status', path, '--write-out=json']);
    const status = JSON.parse(stdout) as Status;
    const range = await store.range({ start: '/', end: '0' });
    const content = new ContentDigest();
    for (const { key, value } of range.entries) {
      const bytes = Buffer.from(key);
      if (!isVolatile(bytes)) content.add(bytes, value);
    }
    const { entries, digest } = content.summary();
    const { databaseBytes, ...summary } = await readSnapshotFile(path);
    assert.deepEqual(summary, {
      revision: Math.max(1, status.revision),
      keys: range.entries.length,
      entries,
      contentDigest: digest,
    });
    assert.equal(databaseBytes, status.totalSize);
  };
  try {
    await check('empty.db');
    const prefixes = ['/registry/pods/', '/registry/events/', '/registry/leases/'];
    for (let at = 0; at < 3_000; at++) {
      const key = `${prefixes[random.below(3)]}${random.below(500)}`;
      const value = random.bytes(random.below(at % 50 === 0 ? 100_000 : 300));
      await store.commit([random.below(4) === 0 ? { type: 'delete', key } : { type: 'put', key, value }]);
      if (at === 10) await check('small.db');
      if (at === 2_000) await store.compact((await store.get('/registry/pods/1')).revision);
    }
    await check('large.db');
    await maintenance.defragment();
    await check('defragmented.db');
  } finally {
    maintenance.close();
    await store.close();
  }
});
