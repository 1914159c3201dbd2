/** Written snapshots, restored by etcdutl and served by real etcd members. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { seededRandom } from '@hangar/core';
import { tool } from '../../../../../../tools/tool.ts';
import type { Revision } from '../../../contract.ts';
import { compareKeys } from '../../../keys.ts';
import type { ReplicaEntry } from '../../../replication/frames.ts';
import { openEtcdStore } from '../etcd-store.ts';
import { positionKey } from '../messages/replica-txn.ts';
import { startEtcd } from '../testing/etcd-process.ts';
import { writeSnapshotFile } from './snapshot-writer.ts';
import { framesOf, randomEntries } from './testing/frames.ts';

const run = promisify(execFile);
const prefix = '/registry/';
const ttlMs = 3_600_000;

function contentOf(seed: number, count: number): { entries: ReplicaEntry[]; revision: number } {
  const random = seededRandom(seed);
  const all = randomEntries(random, count, count > 1_000 ? 2_000 : 20_000);
  const byKey = new Map(all.map((entry) => [entry.key, entry]));
  const entries = [...byKey.values()].sort((a, b) => compareKeys(a.key, b.key));
  // The last transaction of a shared store usually is that of another tenant.
  return { entries, revision: Math.max(...entries.map((entry) => entry.modRevision)) + random.below(2) * 1_000 };
}

interface LeaseOfEtcd {
  readonly ttl: number;
  readonly 'granted-ttl': number;
  readonly keys: readonly string[];
}

async function timeToLive(endpoint: string, id: string): Promise<LeaseOfEtcd> {
  const args = [`--endpoints=${endpoint}`, 'lease', 'timetolive', id, '--keys', '--write-out=json'];
  return JSON.parse((await run(await tool('etcdctl'), args)).stdout) as LeaseOfEtcd;
}

for (const name of ['etcd', 'etcd-3.5'] as const) {
  describe(`a written snapshot on ${name}`, () => {
    for (const [count, members] of [
      [3, 1],
      [300, 3],
      [20_000, 1],
    ] as const) {
      test(`${count} entries have their revisions, versions and leases on ${members} members`, async (context) => {
        const folder = await mkdtemp(join(tmpdir(), 'hangar-snapshot-'));
        context.after(() => rm(folder, { recursive: true, force: true }));
        const path = join(folder, 'seed.db');
        const { entries, revision } = contentOf(count, count);
        const written = await writeSnapshotFile(path, framesOf(entries, revision), { prefix });
        const status = await run(await tool('etcdutl'), ['snapshot', 'status', path, '--write-out=json']);
        assert.equal((JSON.parse(status.stdout) as { revision: number }).revision, revision);

        const etcd = await startEtcd({ program: await tool(name), members, snapshot: path, unsafeNoFsync: true });
        context.after(() => etcd.stop());
        for (const endpoint of etcd.endpoints) {
          const store = await openEtcdStore({ endpoints: [endpoint], requestTimeoutMs: 30_000 });
          try {
            const range = await store.range({ start: prefix, end: '/registry0' });
            assert.equal(range.revision, revision);
            assert.deepEqual(
              range.entries.map(({ key, lease, value, ...rest }) => [
                key,
                lease,
                Buffer.from(value).toString('hex'),
                rest,
              ]),
              entries.map(({ key, lease, value, createRevision, modRevision, version }) => [
                prefix + key,
                lease?.id,
                Buffer.from(value).toString('hex'),
                { createRevision, modRevision, version },
              ]),
            );
            assert.equal((await store.get(positionKey)).entry?.modRevision, revision);
            await assert.rejects(store.range({ start: prefix }, { atRevision: (revision - 1) as Revision }), {
              code: 'Compacted',
            });
            const early = store.watch({ prefix, fromRevision: (revision - 1) as Revision });
            await assert.rejects(early.next(), { code: 'Compacted' });
          } finally {
            await store.close();
          }
        }
        const byLease = Map.groupBy(
          entries.filter(({ lease }) => lease),
          ({ lease }) => lease!.id,
        );
        assert.equal(written.leases, byLease.size);
        for (const [id, some] of byLease) {
          const lease = await timeToLive(etcd.endpoints[0]!, id);
          assert.ok(lease.ttl > ttlMs / 1_000 - 60 && lease['granted-ttl'] === ttlMs / 1_000, JSON.stringify(lease));
          assert.equal(lease.keys.length, some.length);
        }

        // The next write continues every number.
        const store = await openEtcdStore({ endpoints: etcd.endpoints, requestTimeoutMs: 30_000 });
        context.after(() => store.close());
        const watch = store.watch({ prefix, fromRevision: (revision + 1) as Revision });
        const [first] = entries;
        const key = prefix + first!.key;
        const result = await store.commit([
          { type: 'put', key, value: Buffer.from('next'), expected: first!.modRevision },
        ]);
        assert.equal(result.revision, revision + 1);
        assert.equal((await watch.next())?.revision, revision + 1);
        const { entry } = await store.get(key);
        assert.deepEqual(
          [entry!.createRevision, entry!.modRevision, entry!.version],
          [first!.createRevision, revision + 1, first!.version + 1],
        );
      });
    }
  });
}
