/** Replicas on real etcd members, made from snapshots of a store that several tenants share. */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { hasCode, pick, seededRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import { tool } from '../../../../../../tools/tool.ts';
import type { Entry, Revision, Store, Write } from '../../../contract.ts';
import { openMemoryStore } from '../../memory/memory-store.ts';
import { prefixRange } from '../../../keys.ts';
import { replicaDigest } from '../../../replication/digest.ts';
import type { ReplicaFrame } from '../../../replication/frames.ts';
import { replicaFrames } from '../../../replication/source.ts';
import { openEtcdStore } from '../etcd-store.ts';
import { writeSnapshotFile } from '../snapshot-file/snapshot-writer.ts';
import { startEtcd } from '../testing/etcd-process.ts';
import type { EtcdCluster } from '../testing/etcd-process.ts';
import { openEtcdReplica } from './etcd-replica.ts';
import type { EtcdReplica, EtcdReplicaOptions } from './etcd-replica.ts';

const tenant = '/registry/clusters/demo/';
const other = '/registry/clusters/other/';
const prefix = '/registry/';
const limits = ['--max-txn-ops=10240', '--max-request-bytes=4194304'];
const requestTimeoutMs = 20_000;

interface Fixture {
  readonly source: Store;
  readonly etcd: EtcdCluster;
  readonly seeded: Revision;
  open(options?: Partial<EtcdReplicaOptions>): Promise<EtcdReplica>;
}

interface FixtureOptions {
  readonly program?: string;
  readonly members?: number;
  readonly args?: readonly string[];
}

/** A source with some content, and an etcd that was made from its snapshot. */
async function start(context: TestContext, options: FixtureOptions = {}): Promise<Fixture> {
  const opened = new AsyncDisposableStack();
  context.after(() => opened.disposeAsync());
  const source = opened.adopt(await openMemoryStore(), (store) => store.close());
  await write(source, seededRandom(7), 200);
  const folder = await mkdtemp(join(tmpdir(), 'hangar-replica-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const snapshot = join(folder, 'seed.db');
  const { signal } = new AbortController();
  const { revision } = await writeSnapshotFile(snapshot, replicaFrames(source, { prefix: tenant, signal }), { prefix });
  const { program = await tool('etcd'), members = 1, args = limits } = options;
  const etcd = opened.adopt(await startEtcd({ program, members, snapshot, args, unsafeNoFsync: true }), (one) =>
    one.stop(),
  );
  return {
    source,
    etcd,
    seeded: revision,
    async open(more = {}) {
      const replica = await openEtcdReplica({ endpoints: etcd.endpoints, requestTimeoutMs, prefix, ...more });
      return opened.adopt(replica, (one) => one.close());
    },
  };
}

/** Random transactions of two tenants. */
async function write(store: Store, random: Random, count: number): Promise<void> {
  const { id: lease } = await store.grantLease(3_600_000);
  for (let at = 0; at < count; at++) {
    const range = pick(random, [tenant, tenant, other]);
    const key = () => `${range}${pick(random, ['pods', 'secrets', 'events'])}/${random.below(40)}`;
    const put = (): Write => ({
      type: 'put',
      key: key(),
      value: random.bytes(random.below(500)),
      ...(random.below(5) === 0 && { lease }),
    });
    const writes = new Map<string, Write>();
    for (let left = pick(random, [1, 1, 1, 1, 5, 128]); left > 0; left--) {
      const change: Write = random.below(3) === 0 ? { type: 'delete', key: key() } : put();
      if (change.type !== 'deleteRange') writes.set(change.key, change);
    }
    const isRange = random.below(30) === 0;
    await store.commit(isRange ? [{ type: 'deleteRange', range: prefixRange(`${range}pods/`) }] : [...writes.values()]);
  }
}

/** Frames of the source behind the position of the replica, up to its revision now. */
async function changes(source: Store, after: Revision): Promise<ReplicaFrame[]> {
  const controller = new AbortController();
  const frames: ReplicaFrame[] = [];
  const end = await source.revision();
  for await (const frame of replicaFrames(source, { prefix: tenant, signal: controller.signal, after })) {
    frames.push(frame);
    if (frame.type !== 'entry' && frame.revision >= end) break;
  }
  controller.abort();
  return frames;
}

async function catchUp(source: Store, replica: EtcdReplica): Promise<Revision> {
  const frames = await changes(source, await replica.position());
  await replica.apply(frames);
  return source.revision();
}

async function assertEqual(source: Store, replica: EtcdReplica, etcd: EtcdCluster): Promise<void> {
  const revision = await source.revision();
  assert.equal(await replica.revision(), revision);
  assert.deepEqual(await replica.digest(revision), await replicaDigest(source, { prefix: tenant, at: revision }));
  const store = await openEtcdStore({ endpoints: etcd.endpoints, requestTimeoutMs });
  try {
    const [ours, theirs] = await Promise.all([source.range(prefixRange(tenant)), store.range(prefixRange(prefix))]);
    assert.deepEqual(
      theirs.entries.map((entry) => comparableEntry(entry, prefix)),
      ours.entries.map((entry) => comparableEntry(entry, tenant)),
    );
  } finally {
    await store.close();
  }
}

/** Leases are the same numbers. */
const comparableEntry = ({ key, value, lease, ...rest }: Entry, below: string): unknown => [
  key.slice(below.length),
  Buffer.from(value).toString('hex'),
  lease && BigInt(`0x${lease}`),
  rest,
];

for (const name of ['etcd', 'etcd-3.5'] as const) {
  describe(`a replica on ${name}`, () => {
    test('transactions are repeated with their revisions, versions and leases', async (context) => {
      const { source, etcd, open, seeded } = await start(context, { program: await tool(name), members: 3 });
      const replica = await open();
      assert.equal(await replica.position(), seeded);
      await assertEqual(source, replica, etcd);
      for (let round = 0; round < 5; round++) {
        await write(source, seededRandom(round), 100);
        await catchUp(source, replica);
        await assertEqual(source, replica, etcd);
      }
    });

    test('repeated frames, and two followers at once, write once', async (context) => {
      const { source, etcd, open, seeded } = await start(context, { program: await tool(name) });
      const replicas = await Promise.all([open(), open()]);
      await write(source, seededRandom(3), 150);
      const frames = await changes(source, seeded);
      await Promise.all(
        replicas.map(async (replica) => {
          for (const index of frames.keys()) {
            await replica.apply(frames.slice(index, index + 1 + (index % 5)));
            if (index % 7 === 0) await replica.apply([frames[index >> 1]!]);
          }
        }),
      );
      await assertEqual(source, replicas[0]!, etcd);
    });

    test('a member that is killed again and again loses and repeats nothing', async (context) => {
      const { source, etcd, open } = await start(context, { program: await tool(name), members: 3 });
      const replica = await open({ requestTimeoutMs: 60_000 });
      let isDone = false;
      const kills = (async () => {
        for (let at = 0; !isDone; at++) {
          const member = etcd.members[at % 3]!;
          await member.kill();
          await member.start();
        }
      })();
      try {
        for (let round = 0; round < 6; round++) {
          await write(source, seededRandom(100 + round), 40);
          await catchUp(source, replica);
        }
      } finally {
        isDone = true;
        await kills;
      }
      await assertEqual(source, replica, etcd);
    });
  });
}

test('the frames of an etcd are those of its source, with converted values', async (context) => {
  const { source, open, seeded } = await start(context);
  const convert = (key: string, value: Uint8Array): Uint8Array => Buffer.concat([Buffer.from(`${key}=`), value]);
  const [replica, converted] = [await open(), await open({ convert })];
  await write(source, seededRandom(9), 100);
  await catchUp(source, replica);
  const read = async (of: (signal: AbortSignal) => AsyncIterable<ReplicaFrame>, end: Revision) => {
    const controller = new AbortController();
    const frames: ReplicaFrame[] = [];
    for await (const frame of of(controller.signal)) {
      // Progress depends on time, and so does the frame that a batch follows.
      if (frame.type === 'batch') frames.push({ ...frame, after: undefined });
      else if (frame.type !== 'progress') frames.push(frame);
      if (frame.type !== 'entry' && frame.revision >= end) break;
    }
    controller.abort();
    return comparable(frames);
  };
  const end = await source.revision();
  const after = seeded;
  assert.deepEqual(
    await read((signal) => replica.frames(signal, { after }), end),
    await read((signal) => replicaFrames(source, { prefix: tenant, signal, after }), end),
  );
  const values = await read((signal) => converted.frames(signal), end);
  const expected = async function* (signal) {
    for await (const frame of replicaFrames(source, { prefix: tenant, signal })) {
      const { entry } = frame.type === 'entry' ? frame : {};
      yield entry ? { ...frame, entry: { ...entry, value: convert(entry.key, entry.value) } } : frame;
    }
  } as (signal: AbortSignal) => AsyncGenerator<ReplicaFrame>;
  assert.deepEqual(values, await read(expected, end));
});

/** Values as text, and leases without their remaining time. Events of a revision are a set. */
const comparable = (frames: readonly ReplicaFrame[]): unknown =>
  JSON.parse(
    JSON.stringify(frames, (key, value: unknown) => {
      if (key === 'ttlMs') return undefined;
      if (key === 'id') return BigInt(`0x${value as string}`).toString();
      if (key === 'value') return Buffer.from(value as Uint8Array).toString('hex');
      if (key === 'puts' || key === 'deletes') return (value as unknown[]).toSorted(byText);
      return value;
    }),
  );

const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

describe('a replica refuses', () => {
  test('frames after a write of others', async (context) => {
    const { source, etcd, open, seeded } = await start(context);
    const replica = await open();
    const store = await openEtcdStore({ endpoints: etcd.endpoints, requestTimeoutMs });
    context.after(() => store.close());
    const put = { type: 'put', key: `${tenant}pods/new`, value: Buffer.from('1') } as const;
    await source.commit([put]);
    await store.commit([{ type: 'put', key: '/registry/pods/foreign', value: Buffer.from('x') }]);
    await assert.rejects(catchUp(source, replica), (error) => hasCode(error, 'Diverged'));
    assert.equal(await replica.revision(), seeded + 1);
    assert.equal(await replica.position(), seeded);
  });

  test('content that differs from that of the source', async (context) => {
    const { source, open } = await start(context);
    const replica = await open();
    const put = { type: 'put', key: `${tenant}pods/new`, value: Buffer.from('1') } as const;
    await source.commit([put]);
    const frames = await changes(source, await replica.position());
    const wrong = frames.map((frame) =>
      frame.type === 'batch' ? { ...frame, puts: frame.puts.map((entry) => ({ ...entry, version: 5 })) } : frame,
    );
    const revision = await source.revision();
    await assert.rejects(replica.apply(wrong), (error) => hasCode(error, 'Diverged'));
    assert.equal(await replica.revision(), revision - 1);
    await replica.apply(frames);
    assert.equal(await replica.revision(), revision);
  });

  test('a gap that is too large, a missing frame, and an etcd that is not a replica', async (context) => {
    const { open, seeded } = await start(context);
    const replica = await open({ gapMax: 1_000 });
    const progress = (revision: number, after?: number) =>
      ({ type: 'progress', revision: revision as Revision, after: after as Revision | undefined }) as const;
    await assert.rejects(replica.apply([progress(seeded + 1_001)]), (error) => hasCode(error, 'GapTooLarge'));
    await assert.rejects(replica.apply([progress(seeded + 9, seeded + 3)]), (error) => hasCode(error, 'OutOfOrder'));
    await replica.apply([progress(seeded + 1_000)]);
    assert.equal(await replica.revision(), seeded + 1_000);
    const empty = await startEtcd({ unsafeNoFsync: true });
    context.after(() => empty.stop());
    const none = await openEtcdReplica({ endpoints: empty.endpoints, prefix, requestTimeoutMs });
    context.after(() => none.close());
    await assert.rejects(none.apply([progress(5)]), (error) => hasCode(error, 'Diverged'));
  });

  test('a transaction that exceeds the limits of etcd, and writes nothing', async (context) => {
    const { source, open } = await start(context, { args: [] });
    const replica = await open();
    const value = Buffer.from('1');
    const puts = Array.from({ length: 128 }, (_, at) => ({ type: 'put', key: `${tenant}new/${at}`, value }) as const);
    const { revision } = await source.commit(puts);
    await assert.rejects(catchUp(source, replica), (error) => hasCode(error, 'BatchTooLarge'));
    assert.ok((await replica.position()) < revision);
  });
});

test('a lease that expires on the source deletes its keys by a frame, and etcd does not delete them before', async (context) => {
  const { source, etcd, open } = await start(context);
  const replica = await open({ leaseTtlMinMs: 60_000 });
  const { id } = await source.grantLease(1_000);
  const put = { type: 'put', key: `${tenant}events/short`, value: Buffer.from('1'), lease: id } as const;
  const { revision } = await source.commit([put]);
  await catchUp(source, replica);
  while ((await source.revision()) === revision) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(await replica.revision(), revision);
  await catchUp(source, replica);
  await assertEqual(source, replica, etcd);
});
