import assert from 'node:assert/strict';
import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { hasCode, seededRandom } from '@hangar/core';
import * as fc from 'fast-check';
import type { Revision } from '../../../contract.ts';
import type { ReplicaEntry, ReplicaFrame } from '../../../replication/frames.ts';
import { positionKey } from '../messages/replica-txn.ts';
import { decodeMessage } from '../testing/etcd-proto.ts';
import { blockReader } from './block-reader.ts';
import { bucketsOf, leavesOf, openBolt } from './bolt-file.ts';
import { ContentDigest, isVolatile } from './content-digest.ts';
import { readSnapshotFile } from './snapshot-file.ts';
import { writeSnapshotFile } from './snapshot-writer.ts';
import { entryOf, framesOf, randomEntries } from './testing/frames.ts';

const prefix = '/registry/';

async function temporaryFolder(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-snapshot-'));
  context.after(() => rm(folder, { recursive: true }));
  return folder;
}

/** Entries of a bucket from the first to the last. */
async function bucketOf(path: string, name: string): Promise<{ key: Buffer; value: Buffer }[]> {
  const file = await open(path);
  try {
    const bolt = await openBolt(blockReader(file, (await file.stat()).size - 32));
    const entries: { key: Buffer; value: Buffer }[] = [];
    for await (const page of leavesOf(bolt, (await bucketsOf(bolt)).get(name)!)) {
      for (const { key, value } of page) entries.push({ key: Buffer.from(key), value: Buffer.from(value) });
    }
    return entries.reverse();
  } finally {
    await file.close();
  }
}

function summaryOf(entries: readonly ReplicaEntry[]) {
  const content = new ContentDigest();
  for (const { key, value } of entries) {
    const bytes = Buffer.from(`${prefix}${key}`);
    if (!isVolatile(bytes)) content.add(bytes, value);
  }
  return content.summary();
}

const uniqueByKey = (entries: readonly ReplicaEntry[]): ReplicaEntry[] => [
  ...new Map(entries.map((entry) => [entry.key, entry])).values(),
];

test('any content is in the file with its revisions, versions and leases, once, at the revision of the snapshot', async (context) => {
  const folder = await temporaryFolder(context);
  const path = join(folder, 'seed.db');
  const shapes = fc.record({
    seed: fc.integer(),
    count: fc.integer({ min: 0, max: 150 }),
    valueBytesMax: fc.constantFrom(1, 100, 9_000),
    runBytesMax: fc.constantFrom(200, 20_000, 8_000_000),
    later: fc.nat(3),
  });
  await fc.assert(
    fc.asyncProperty(shapes, async ({ seed, count, valueBytesMax, runBytesMax, later }) => {
      const entries = uniqueByKey(randomEntries(seededRandom(seed), count, valueBytesMax));
      const revision = 1 + later + Math.max(0, ...entries.map((entry) => entry.modRevision));
      const written = await writeSnapshotFile(path, framesOf(entries, revision), { prefix, runBytesMax });
      const summary = await readSnapshotFile(path);
      const { digest, ...expected } = summaryOf(entries);
      assert.deepEqual(summary, {
        ...expected,
        revision,
        keys: entries.length + 1,
        contentDigest: digest,
        databaseBytes: written.databaseBytes,
      });
      const stored = await bucketOf(path, 'key');
      const found = stored.map(({ key, value }) => {
        const message = decodeMessage('KeyValue', value);
        assert.equal(message['mod_revision'], key.readBigUInt64BE(0).toString());
        return message;
      });
      const wanted = entries.map(({ key, value, createRevision, modRevision, version, lease }) => ({
        key: `${prefix}${key}`,
        create_revision: String(createRevision),
        mod_revision: String(modRevision),
        version: String(version),
        ...(value.length > 0 && { value: Buffer.from(value).toString() }),
        ...(lease && { lease: BigInt(`0x${lease.id}`).toString() }),
      }));
      const position = { create_revision: String(revision), mod_revision: String(revision), version: '1' };
      const byKey = (a: { key?: unknown }, b: { key?: unknown }): number => (String(a.key) < String(b.key) ? -1 : 1);
      assert.deepEqual(found.sort(byKey), [...wanted, { key: positionKey, ...position }].sort(byKey));
      const ids = new Set(entries.flatMap(({ lease }) => lease?.id ?? []));
      assert.equal(written.leases, ids.size);
      const leases = await bucketOf(path, 'lease');
      assert.deepEqual(
        leases.map(({ key, value }) => [
          key.readBigUInt64BE(0).toString(16),
          decodeMessage('LeaseGrantRequest', value),
        ]),
        [...ids].sort().map((id) => [id, { TTL: BigInt(`0x${id}`).toString(), ID: '3600' }]),
      );
      const compacted = (await bucketOf(path, 'meta')).map(({ value }) => value.readBigUInt64BE(0));
      assert.deepEqual(compacted, [BigInt(revision), BigInt(revision)]);
    }),
    { numRuns: 40 },
  );
});

test('entries of one transaction are numbered, and a lease has at least the shortest time', async (context) => {
  const path = join(await temporaryFolder(context), 'seed.db');
  const value = Buffer.from('v');
  const lease = { id: 'ffffffffffffffff', ttlMs: 1_500 };
  const entries = ['a', 'b', 'c'].map((key) => entryOf({ key, value, modRevision: key === 'a' ? 3 : 7, lease }));
  await writeSnapshotFile(path, framesOf(entries, 7), { prefix, leaseTtlMinMs: 60_000 });
  const places = (await bucketOf(path, 'key')).map(({ key }) => [key.readBigUInt64BE(0), key.readBigUInt64BE(9)]);
  assert.deepEqual(places, [
    [3n, 0n],
    [7n, 0n],
    [7n, 1n],
    [7n, 2n],
  ]);
  const [stored] = await bucketOf(path, 'lease');
  assert.deepEqual(decodeMessage('LeaseGrantRequest', stored!.value), { TTL: '-1', ID: '60' });
});

test('frames behind the snapshot are not read, and the generator is closed', async (context) => {
  const path = join(await temporaryFolder(context), 'seed.db');
  const seen: string[] = [];
  const source = async function* (): AsyncGenerator<ReplicaFrame, void, void> {
    try {
      yield* framesOf([], 4);
      seen.push('read on');
    } finally {
      seen.push('closed');
    }
  };
  assert.equal((await writeSnapshotFile(path, source(), { prefix })).revision, 4);
  assert.deepEqual(seen, ['closed']);
});

test('frames that are not in order, invalid or incomplete are refused, and no file stays', async (context) => {
  const folder = await temporaryFolder(context);
  const value = Buffer.from('v');
  const [a, b] = ['a', 'b'].map((key) => ({ type: 'entry', entry: entryOf({ key, value, modRevision: 3 }) }) as const);
  const snapshot = (revision: number) => ({ type: 'snapshot', revision: revision as Revision }) as const;
  const invalid = (fields: object) => ({ type: 'entry', entry: { ...a!.entry, ...fields } }) as ReplicaFrame;
  const streams: ReplicaFrame[][] = [
    [],
    [a!, b!],
    [b!, a!, snapshot(5)],
    [a!, a!, snapshot(5)],
    [a!, snapshot(2)],
    [a!, { ...snapshot(5), entries: 2 }],
    [snapshot(0)],
    [{ type: 'progress', revision: 5 as Revision }, snapshot(5)],
    [invalid({ version: 0 }), snapshot(5)],
    [invalid({ createRevision: 4 }), snapshot(5)],
    [invalid({ lease: { id: 'not-hex', ttlMs: 1 } }), snapshot(5)],
  ];
  for (const frames of streams) {
    const source = async function* () {
      yield* frames;
    };
    await assert.rejects(writeSnapshotFile(join(folder, 'seed.db'), source(), { prefix }), (error) =>
      hasCode(error, 'ImportFailed'),
    );
  }
  assert.deepEqual(await readdir(folder), []);
});

test('an aborted call leaves no files', async (context) => {
  const folder = await temporaryFolder(context);
  const controller = new AbortController();
  const source = async function* (): AsyncGenerator<ReplicaFrame, void, void> {
    yield { type: 'entry', entry: entryOf({ key: 'a', value: Buffer.from('v'), modRevision: 3 }) };
    controller.abort();
    yield* framesOf([], 4);
  };
  const { signal } = controller;
  await assert.rejects(writeSnapshotFile(join(folder, 'seed.db'), source(), { prefix, signal }), {
    name: 'AbortError',
  });
  assert.deepEqual(await readdir(folder), []);
});
