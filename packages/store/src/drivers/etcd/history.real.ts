/** Compaction by others, etcd's own limits, and the history policy, on a real etcd. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Revision, Store } from '../../contract.ts';
import { openEtcdStore } from './etcd-store.ts';
import type { EtcdStoreOptions } from './etcd-store.ts';
import { CuttableTransport } from './testing/cuttable-transport.ts';
import { startEtcd } from './testing/etcd-process.ts';
import type { EtcdCluster } from './testing/etcd-process.ts';

const maxRequestBytes = 300_000;
let etcd: EtcdCluster;
let tests = 0;

before(async () => {
  etcd = await startEtcd({ unsafeNoFsync: true, args: [`--max-request-bytes=${maxRequestBytes}`] });
});

after(() => etcd.stop());

/** Two stores on the same data, as two replicas have. */
async function withReplicas(
  run: (one: Store, other: Store, key: string) => Promise<void>,
  options: Partial<EtcdStoreOptions> = {},
): Promise<void> {
  const prefix = `/history/${++tests}/`;
  const open = () => openEtcdStore({ endpoints: etcd.endpoints, prefix, ...options });
  const one = await open();
  const other = await open();
  try {
    await run(one, other, `${prefix}a`);
  } finally {
    await Promise.all([one.close(), other.close()]);
  }
}

function put(store: Store, key: string, text: string): Promise<Revision> {
  return store.commit([{ type: 'put', key, value: Buffer.from(text) }]).then(({ revision }) => revision);
}

test('a watch that is away during a compaction ends with Compacted, and a new one goes on', async () => {
  const transport = new CuttableTransport();
  await withReplicas(async (one, other, key) => {
    const away = await openEtcdStore({ endpoints: etcd.endpoints, prefix: key, transport });
    try {
      const watch = away.watch({ prefix: key });
      const first = await put(one, key, 'seen');
      assert.equal((await watch.next())?.revision, first);
      const waiting = watch.next();
      transport.cut();
      await put(one, key, 'missed');
      const compacted = await put(other, key, 'missed too');
      await other.compact(compacted);
      transport.heal();
      await assert.rejects(waiting, { code: 'Compacted', compactedRevision: compacted });
      const again = away.watch({ prefix: key });
      const last = await put(one, key, 'last');
      assert.equal((await again.next())?.revision, last);
    } finally {
      await away.close();
    }
  });
});

test('a watch that is away without a compaction misses nothing', async () => {
  const transport = new CuttableTransport();
  await withReplicas(async (one, _other, key) => {
    const away = await openEtcdStore({ endpoints: etcd.endpoints, prefix: key, transport });
    try {
      const watch = away.watch({ prefix: key, previous: true });
      const expected: number[] = [];
      const seen: number[] = [];
      for (let round = 0; round < 5; round++) {
        expected.push(await put(one, key, `connected ${round}`));
        if (round % 2 === 0) seen.push((await watch.next())!.revision);
        transport.cut();
        for (let at = 0; at < 20; at++) expected.push(await put(one, key, `away ${round} ${at}`));
        transport.heal();
      }
      while (seen.length < expected.length) seen.push((await watch.next())!.revision);
      assert.deepEqual(seen, expected);
    } finally {
      await away.close();
    }
  });
});

test('a replica that slept through a compaction learns of it from etcd, with where the history begins', async () => {
  await withReplicas(async (one, other, key) => {
    const old = await put(one, key, '1');
    await put(one, key, '2');
    const compacted = await put(one, key, '3');
    await put(one, key, '4');
    await one.compact(compacted);
    await assert.rejects(other.get(key, { atRevision: old }), { code: 'Compacted', compactedRevision: compacted });
    await assert.rejects(other.watch({ prefix: key, fromRevision: old }).next(), {
      code: 'Compacted',
      compactedRevision: compacted,
    });
    await other.compact(compacted);
    await other.compact(old);
  });
});

test('previous values at the edge of a compaction are right or the watch says Compacted', async () => {
  await withReplicas(async (one, other, key) => {
    await put(one, key, '1');
    const edge = await put(one, key, '2');
    await put(one, key, '3');
    await one.compact(edge);
    const watch = other.watch({ prefix: key, fromRevision: edge, previous: true });
    await assert.rejects(watch.next(), { code: 'Compacted' });
    const behind = other.watch({ prefix: key, fromRevision: (edge + 1) as Revision, previous: true });
    const event = (await behind.next())!.events[0]!;
    assert.equal(Buffer.from(event.previous!.value).toString(), '2');
  });
});

test('a value over etcd’s own limit is ValueTooLarge', async () => {
  await withReplicas(async (one, _other, key) => {
    const value = new Uint8Array(maxRequestBytes + 1);
    await assert.rejects(one.commit([{ type: 'put', key, value }]), { code: 'ValueTooLarge' });
    const huge = new Uint8Array(1_500_000);
    await assert.rejects(one.commit([{ type: 'put', key, value: huge }]), { code: 'ValueTooLarge' });
    assert.equal((await one.get(key)).entry, undefined);
    await put(one, key, 'x'.repeat(maxRequestBytes / 2));
  });
});

test('two replicas with a history policy keep the history short', async () => {
  const history = { ageMs: 60_000, revisionsMax: 100 };
  await withReplicas(
    async (one, other, key) => {
      const first = await put(one, key, 'first');
      for (let at = 0; at < 150; at++) await put(at % 2 ? one : other, key, String(at));
      const last = await one.revision();
      for (const endMs = Date.now() + 20_000; ;) {
        const code = await one.get(key, { atRevision: first }).then(
          () => 'readable',
          (error: { code: string }) => error.code,
        );
        if (code === 'Compacted') break;
        assert.ok(Date.now() < endMs, 'nobody compacted');
      }
      await one.get(key, { atRevision: (last - 50) as Revision });
    },
    { history },
  );
});

test('a list of thousands of entries is read in pages that fit', async () => {
  await withReplicas(async (one, _other, key) => {
    const value = new Uint8Array(50_000);
    for (let at = 0; at < 400; at += 5) {
      const writes = Array.from(
        { length: 5 },
        (_, more) => ({ type: 'put', key: `${key}/${at + more}`, value }) as const,
      );
      await one.commit(writes);
    }
    const { entries } = await one.range({ start: key });
    assert.equal(entries.length, 400);
    assert.equal((await one.statistics({ start: key })).keys, 400);
  });
});
