/** From a real etcd to the embedded store, while clients write: the replica has the revisions of etcd. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Revision, Store } from '../contract.ts';
import { openEmbeddedStore } from '../drivers/embedded/embedded-store.ts';
import { openEtcdStore } from '../drivers/etcd/etcd-store.ts';
import { startEtcd } from '../drivers/etcd/testing/etcd-process.ts';
import type { EtcdCluster } from '../drivers/etcd/testing/etcd-process.ts';
import { replicaDigest } from './digest.ts';
import { decodeFrames, encodeFrames } from './format.ts';
import type { ReplicaFrame } from './frames.ts';
import { replicaFrames } from './source.ts';
import { ReplicaWriter } from './writer.ts';

const source = '/registry/';
const target = '/registry/clusters/demo/';
const positionKey = '/migrations/demo';
const directory = mkdtempSync(join(tmpdir(), 'hangar-replica-'));
let cluster: EtcdCluster;

before(async () => {
  cluster = await startEtcd({ unsafeNoFsync: true });
});

after(async () => {
  await cluster.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Sends everything up to a revision that is not known before the changes are made. */
async function* upTo(frames: AsyncIterable<ReplicaFrame>, last: Promise<Revision>) {
  let end = Infinity;
  void last.then((revision) => (end = revision));
  for await (const frame of frames) {
    yield frame;
    if (frame.type !== 'entry' && frame.revision >= end) return;
  }
}

async function write(store: Store, count: number, name: string): Promise<Revision> {
  for (let at = 0; at < count; at++) {
    const key = `${source}configmaps/default/${name}-${at % 300}`;
    if (at % 17 === 16) await store.commit([{ type: 'delete', key }]);
    else await store.commit([{ type: 'put', key, value: Buffer.from(`{"value":${at}}`) }]);
  }
  return store.revision();
}

test('a replica of etcd has its content and revisions, also after a restart', async () => {
  const etcd = await openEtcdStore({ endpoints: cluster.endpoints });
  const embedded = await openEmbeddedStore({ directory });
  try {
    const lease = await etcd.grantLease(600_000);
    await write(etcd, 700, 'early');
    await etcd.commit([{ type: 'put', key: `${source}events/default/a`, value: Buffer.from('{}'), lease: lease.id }]);
    await embedded.commit([{ type: 'put', key: '/registry/clusters/other/a', value: Buffer.from('{}') }]);
    const last = write(etcd, 400, 'late');
    const { signal } = new AbortController();
    const frames = replicaFrames(etcd, { prefix: source, signal, progressEveryMs: 50 });
    const writer = new ReplicaWriter({ store: embedded, prefix: target, positionKey });
    const { revision } = await writer.apply(decodeFrames(encodeFrames(upTo(frames, last)), { complete: true }));
    assert.ok(revision >= (await last));
    const expected = await replicaDigest(etcd, { prefix: source, at: revision });
    const { digest, entries } = await replicaDigest(embedded, { prefix: target });
    assert.deepEqual([entries, digest], [expected.entries, expected.digest]);
    assert.ok((await embedded.revision()) >= revision);
    const { entry } = await embedded.get(`${target}events/default/a`);
    const remainingMs = await embedded.leaseTtlMs(entry!.lease!);
    assert.ok(remainingMs > 300_000 && remainingMs <= 600_000, String(remainingMs));
    assert.equal((await embedded.get('/registry/clusters/other/a')).entry?.version, 1);
    await embedded.close();
    const again = await openEmbeddedStore({ directory });
    try {
      assert.equal((await replicaDigest(again, { prefix: target })).digest, expected.digest);
      assert.deepEqual(await new ReplicaWriter({ store: again, prefix: target, positionKey }).position(), { revision });
    } finally {
      await again.close();
    }
  } finally {
    await embedded.close();
    await etcd.close();
  }
});
