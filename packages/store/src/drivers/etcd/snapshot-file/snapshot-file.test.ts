import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { hasCode } from '@hangar/core';
import * as fc from 'fast-check';
import { ContentDigest } from './content-digest.ts';
import { readSnapshotFile, summarizeDatabase } from './snapshot-file.ts';
import { boltDatabase } from './testing/bolt-writer.ts';
import { currentOf, entriesOf, inMemory } from './testing/history.ts';
import type { ChangeOfKey } from './testing/history.ts';

const isDamaged = (error: unknown): boolean => hasCode(error, 'StorageDamaged');

/** In the order of keys, as a range of etcd returns them. */
function summaryOf(current: ReadonlyMap<string, string>) {
  const digest = new ContentDigest();
  for (const [key, value] of [...current].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (key.startsWith('/') && !/^\/registry\/(events|leases|masterleases)\//.test(key))
      digest.add(Buffer.from(key), Buffer.from(value));
  }
  return digest.summary();
}

const keys = fc.constantFrom(
  '/registry/pods/a',
  '/registry/pods/b',
  '/registry/events/a',
  '/registry/leases/x',
  'compact_rev_key',
  '/l',
  '/m',
);
const changes = fc.array(fc.tuple(keys, fc.option(fc.string(), { nil: undefined })), { maxLength: 60 });

test('any history has the revision, the keys and the digest of its current state', async () => {
  const layouts = fc.record({
    pageBytes: fc.constantFrom(1_024, 4_096, 65_536),
    fanOut: fc.integer({ min: 2, max: 9 }),
    inlineMax: fc.integer({ min: 0, max: 5 }),
    slots: fc.constantFrom(4, 8, 16),
  });
  await fc.assert(
    fc.asyncProperty(changes, layouts, async (history: readonly ChangeOfKey[], { slots: seenSlots, ...layout }) => {
      const database = boltDatabase({ alarm: [], key: entriesOf(history), meta: entriesOf([['a', 'b']]) }, layout);
      const current = currentOf(history);
      const { entries, digest } = summaryOf(current);
      assert.deepEqual(await summarizeDatabase(inMemory(database), { seenSlots }), {
        revision: history.length + 1,
        keys: current.size,
        entries,
        contentDigest: digest,
        databaseBytes: database.length,
      });
    }),
    { numRuns: 200 },
  );
});

test('large values continue on more pages', async () => {
  const history: ChangeOfKey[] = [
    ['a', 'x'.repeat(100_000)],
    ['b', 'y'.repeat(9_000)],
    ['a', 'z'.repeat(50_000)],
  ];
  const summary = await summarizeDatabase(inMemory(boltDatabase({ key: entriesOf(history) })));
  assert.equal(summary.contentDigest, summaryOf(currentOf(history)).digest);
});

test('the digest differs for a changed value, a lost key and a moved byte', () => {
  const of = (...entries: [string, string][]): string => summaryOf(new Map(entries)).digest;
  const all = [
    of(['/a', 'b'], ['/c', 'd']),
    of(['/a', 'b'], ['/c', 'e']),
    of(['/a', 'b']),
    of(['/ab', ''], ['/c', 'd']),
    of(),
  ];
  assert.equal(new Set(all).size, all.length);
});

test('files that are shorter, longer or changed are refused', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-snapshot-'));
  context.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'snapshot.db');
  const database = boltDatabase({
    key: entriesOf([
      ['a', 'b'],
      ['c', 'd'],
    ]),
  });
  const whole = Buffer.concat([database, createHash('sha256').update(database).digest()]);
  const read = async (bytes: Uint8Array) => {
    await writeFile(path, bytes);
    return readSnapshotFile(path);
  };
  assert.equal((await read(whole)).keys, 2);
  const flipped = Buffer.from(whole);
  flipped[9_000]! ^= 1;
  const shorter = whole.subarray(0, -4_096);
  for (const bytes of [
    database,
    whole.subarray(32),
    flipped,
    shorter,
    Buffer.concat([whole, Buffer.alloc(512)]),
    Buffer.alloc(0),
  ]) {
    await assert.rejects(read(bytes), isDamaged);
  }
});

test('pages that form a loop are refused', async () => {
  const history = Array.from({ length: 40 }, (_, at): ChangeOfKey => [`k${at}`, 'v']);
  const database = boltDatabase({ key: entriesOf(history) }, { fanOut: 2 });
  const branch = Array.from({ length: database.length / 4_096 }, (_, id) => id).find(
    (id) => id > 2 && database.readUInt16LE(id * 4_096 + 8) === 1,
  )!;
  // The first child of the branch is the branch itself.
  database.writeBigUInt64LE(BigInt(branch), branch * 4_096 + 16 + 8);
  await assert.rejects(summarizeDatabase(inMemory(database)), isDamaged);
});

test('one valid meta page is sufficient', async () => {
  const database = boltDatabase({ key: entriesOf([['a', 'b']]) });
  database[20] = 9;
  assert.equal((await summarizeDatabase(inMemory(database))).keys, 1);
  database[4_096 + 20] = 9;
  await assert.rejects(summarizeDatabase(inMemory(database)), isDamaged);
});

test('a change without content, as a restore with a higher revision adds it, counts only for the revision', async () => {
  const place = Buffer.alloc(17);
  place.writeBigUInt64BE(1_000_000_002n);
  place[8] = 0x5f;
  const key = [...entriesOf([['/a', 'b']]), [place, Buffer.alloc(0)] as const];
  const { revision, keys } = await summarizeDatabase(inMemory(boltDatabase({ key })));
  assert.deepEqual([revision, keys], [1_000_000_002, 1]);
});
