import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chance, pick, seededRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import { damage } from '@hangar/core/testing';
import type { Revision, Store, Write } from '../contract.ts';
import { openMemoryStore } from '../drivers/memory/memory-store.ts';
import { contents, MemoryWorld, put } from '../drivers/memory/testing.ts';
import { StoreError } from '../errors.ts';
import { prefixRange } from '../keys.ts';
import { valueBytesMax } from '../limits.ts';
import { alteredStore } from '../simulation/planted-bugs/altered.ts';
import { replicaDigest } from './digest.ts';
import { decodeFrames, encodeRequest } from './format.ts';
import type { ReplicaEntry, ReplicaFrame } from './frames.ts';
import { replicaFrames } from './source.ts';
import { inChunks } from './testing.ts';
import { ReplicaWriter } from './writer.ts';

const source = '/registry/';
const target = '/registry/clusters/demo/';
const positionKey = `${target}.hangar/position`;
const identity = `${target}.hangar/tenant`;
const omits = (key: string): boolean => key.startsWith('.hangar/');

const writerOf = (store: Store): ReplicaWriter => new ReplicaWriter({ store, prefix: target, positionKey, omits });

const revision = (number: number): Revision => number as Revision;

/** Reads a new stream up to a progress frame that covers the current revision. */
async function framesOf(store: Store, after?: Revision): Promise<ReplicaFrame[]> {
  const current = await store.revision();
  const { signal } = new AbortController();
  const frames: ReplicaFrame[] = [];
  for await (const frame of replicaFrames(store, { prefix: source, signal, after })) {
    frames.push(frame);
    if (frame.type === 'progress' && frame.revision >= current) break;
  }
  return frames;
}

async function assertEqualAt(from: Store, to: Store, at: Revision): Promise<void> {
  const { entries, digest } = await replicaDigest(from, { prefix: source, at });
  const replica = await replicaDigest(to, { prefix: target, omits });
  assert.deepEqual([replica.entries, replica.digest], [entries, digest], `the replica differs at revision ${at}`);
  assert.ok((await to.revision()) >= at, 'the revision of the replica is too low');
}

const entry = (key: string, modRevision: number, value = 'x'): ReplicaEntry => ({
  key,
  value: Buffer.from(value),
  createRevision: revision(modRevision),
  modRevision: revision(modRevision),
  version: 1,
});

/** A snapshot of these entries. */
function snapshotOf(at: number, ...entries: ReplicaEntry[]): ReplicaFrame[] {
  return [
    ...entries.map((one, index): ReplicaFrame => {
      return { type: 'entry', entry: one, place: { snapshot: revision(at), index } };
    }),
    { type: 'snapshot', revision: revision(at), entries: entries.length },
  ];
}

const batch = (at: number, after: number, puts: ReplicaEntry[], deletes: string[] = []): ReplicaFrame => {
  return { type: 'batch', revision: revision(at), after: revision(after), puts, deletes };
};

describe('a replica', () => {
  test('has the keys, values, revisions and versions of its source', async () => {
    const [from, to] = [await openMemoryStore(), await openMemoryStore()];
    for (let count = 0; count < 400; count++) await from.commit([put(`/registry/${count % 150}`, String(count))]);
    const position = await writerOf(to).apply(await framesOf(from));
    assert.deepEqual(position, { revision: await from.revision() });
    await assertEqualAt(from, to, position.revision);
    const { entry: one } = await to.get(`${target}149`);
    assert.deepEqual([one?.createRevision, one?.modRevision, one?.version], [151, 301, 2]);
  });

  test('keeps the keys that are not part of it, and other ranges', async () => {
    const to = await openMemoryStore();
    for (const key of [identity, `${target}old`, '/registry/clusters/demo0', '/registry/clusters/a'])
      await to.commit([put(key, '1')]);
    await writerOf(to).apply(snapshotOf(90, entry('new', 80)));
    assert.deepEqual(
      (await contents(to)).filter((line) => !line.startsWith(positionKey)),
      ['/registry/clusters/a=1@5', `${identity}=1@2`, `${target}new=x@80`, '/registry/clusters/demo0=1@4'].sort(),
    );
  });

  test('replaces its content by a newer snapshot, and skips an older one', async () => {
    const to = await openMemoryStore();
    const writer = writerOf(to);
    await writer.apply(snapshotOf(90, entry('a', 1), entry('b', 2), entry('d', 3)));
    await writer.apply(snapshotOf(90, entry('x', 1)));
    const before = await to.revision();
    await writer.apply(snapshotOf(95, entry('a', 1), entry('c', 94), entry('d', 93)));
    const list = (await contents(to)).filter((line) => !line.includes('.hangar'));
    assert.deepEqual(list, [`${target}a=x@1`, `${target}c=x@94`, `${target}d=x@93`]);
    const unchanged = await to.get(`${target}a`, { atRevision: before });
    assert.ok(unchanged.entry, 'an entry that is the same in both was deleted');
    assert.equal((await writer.position()).revision, 95);
  });

  test('is not complete until the new snapshot is', async () => {
    const writer = writerOf(await openMemoryStore());
    await writer.apply(snapshotOf(90, entry('a', 1)));
    const position = await writer.apply(snapshotOf(95, entry('a', 1), entry('b', 2)).slice(0, 1));
    assert.deepEqual(position, { revision: 0, snapshot: { revision: 95, entries: 1, lastKey: 'a' } });
    await assert.rejects(writer.apply([batch(96, 90, [])]), { code: 'ImportFailed' });
  });

  for (const [name, frames] of Object.entries({
    'entries are missing': snapshotOf(95, entry('a', 1), entry('b', 2)).slice(1),
    'the last entries are missing': snapshotOf(95, entry('a', 1), entry('b', 2)).toSpliced(1, 1),
    'entries are not in order': snapshotOf(95, entry('b', 1), entry('a', 2)),
    'a batch is missing': [batch(99, 97, [])],
    'a progress frame covers a missing batch': [
      { type: 'progress', revision: revision(99), after: revision(97) } as ReplicaFrame,
    ],
    'a batch has no place in the stream': [
      { type: 'batch', revision: revision(99), puts: [], deletes: [] } as ReplicaFrame,
    ],
    'an entry has no place in the stream': [{ type: 'entry', entry: entry('a', 1) } as ReplicaFrame],
    'an entry is newer than its batch': [batch(91, 90, [entry('a', 92)])],
    'an entry has impossible revisions': [batch(91, 90, [{ ...entry('a', 91), version: 0 }])],
    'a key is invalid': [batch(91, 90, [], ['a\u0000'])],
    'a key is not part of the replica': [batch(91, 90, [entry('ok', 91), entry('.hangar/tenant', 91)])],
    'a deleted key is not part of the replica': [batch(91, 90, [], ['ok', '.hangar/position'])],
  })) {
    test(`refuses frames if ${name}`, async () => {
      const to = await openMemoryStore();
      const writer = writerOf(to);
      await writer.apply(snapshotOf(90, entry('a', 1)));
      const before = await contents(to);
      await assert.rejects(writer.apply(frames), { code: 'ImportFailed' });
      if (frames[0]!.type !== 'entry') assert.deepEqual(await contents(to), before);
      assert.ok((await writer.position()).revision <= 90);
    });
  }

  test('applies the frames before a damaged one', async () => {
    const to = await openMemoryStore();
    const writer = writerOf(to);
    const request = encodeRequest([...snapshotOf(90, entry('a', 1)), batch(91, 90, [entry('b', 91)])]);
    async function* cut(): AsyncGenerator<Uint8Array, void, void> {
      yield request.subarray(0, -20);
    }
    await assert.rejects(writer.apply(decodeFrames(cut(), { complete: true })), { code: 'ImportFailed' });
    assert.equal((await writer.position()).revision, 90);
  });

  test('is written by one request at a time, and by one writer', async () => {
    const to = await openMemoryStore();
    const writer = writerOf(to);
    await writer.apply(snapshotOf(90));
    const first = writer.apply([batch(91, 90, [entry('a', 91)])]);
    const second = writer.apply([batch(91, 90, [entry('a', 91)]), batch(92, 91, [entry('b', 92)])]);
    assert.deepEqual([(await first).revision, (await second).revision], [91, 92]);
    async function* slowly(): AsyncGenerator<ReplicaFrame, void, void> {
      yield batch(93, 92, [entry('c', 93)]);
      await writerOf(to).apply([batch(93, 92, [entry('c', 93)]), batch(94, 93, [], ['c'])]);
    }
    await assert.rejects(writer.apply(slowly()), /another request moves the position/);
    assert.equal((await writer.position()).revision, 94);
    assert.equal((await to.get(`${target}c`)).entry, undefined, 'a change came back');
  });

  test('takes values of the largest size and batches of any length', async () => {
    const to = await openMemoryStore();
    const writer = writerOf(to);
    await writer.apply(snapshotOf(90, entry('large', 3, 'x'.repeat(valueBytesMax - 100)), entry('small', 4)));
    const many = Array.from({ length: 1_000 }, (_, at) => entry(`many/${at}`, 91, 'y'.repeat(at)));
    await writer.apply([batch(91, 90, many)]);
    assert.equal((await to.statistics(prefixRange(`${target}many/`))).keys, 1_000);
    const keys = many.map(({ key }) => key);
    assert.equal((await writer.apply([batch(92, 91, [], keys)])).revision, 92);
    assert.equal((await to.statistics(prefixRange(`${target}many/`))).keys, 0);
    assert.equal((await to.get(`${target}large`)).entry?.value.length, valueBytesMax - 100);
  });

  test('entries expire after the time of their lease, but not while frames arrive', () => {
    const world = new MemoryWorld(3);
    return world.withStore(async (to) => {
      const later = (delayMs: number): Promise<void> => new Promise((done) => world.scheduler.after(delayMs, done));
      const leased = (key: string, id: string, at: number) => ({
        ...entry(key, at),
        lease: { id: id as never, ttlMs: 5_000 },
      });
      const writer = writerOf(to);
      const keys = async (): Promise<string[]> => {
        const { entries } = await to.range(prefixRange(target));
        return entries.map(({ key }) => key.slice(target.length)).filter((key) => !omits(key));
      };
      await writer.apply(
        snapshotOf(10, leased('a', '1', 10), leased('b', '1', 10), leased('c', '2', 10), entry('d', 10)),
      );
      for (let at = 11; at < 20; at++) {
        await later(2_000);
        const puts = at === 14 ? [leased('a', '3', at), entry('b', at)] : [];
        await writer.apply([batch(at, at - 1, puts)]);
      }
      assert.deepEqual(await keys(), ['a', 'b', 'c', 'd']);
      await later(6_000);
      assert.deepEqual(await keys(), ['b', 'd']);
      assert.equal((await writer.apply([batch(20, 19, [leased('a', '3', 20)])])).revision, 20);
      assert.deepEqual(await keys(), ['a', 'b', 'd']);
    });
  });
});

/** A store whose commits sometimes fail, before or after they happen. */
function unreliable(store: Store, random: Random): Store {
  return alteredStore(store, {
    async commit(writes) {
      if (chance(random, 0.05)) throw new StoreError('StorageFailed', 'failed before the commit');
      const result = await store.commit(writes);
      if (chance(random, 0.05)) throw new StoreError('StorageFailed', 'failed after the commit');
      return result;
    },
  });
}

async function writeSome(store: Store, random: Random, prefix: string): Promise<void> {
  for (let count = random.below(12); count > 0; count--) {
    const keys = new Set(Array.from({ length: 1 + random.below(4) }, () => `${prefix}${random.below(25)}`));
    const writes = [...keys].map((key): Write => {
      return chance(random, 0.35) ? { type: 'delete', key } : put(key, String(random.below(1_000)));
    });
    await store.commit(chance(random, 0.03) ? [{ type: 'deleteRange', range: prefixRange(`${prefix}1`) }] : writes);
  }
}

async function replicate(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const [from, to] = [await openMemoryStore(), await openMemoryStore()];
  let writer = writerOf(unreliable(to, random));
  let frames: ReplicaFrame[] = [];
  const old: Buffer[] = [];
  const requests = async (): Promise<void> => {
    for (let at = 0; at < frames.length;) {
      const sent = frames.slice(at, at + 1 + random.below(20));
      const bytes = encodeRequest(sent);
      old.push(bytes);
      if (chance(random, 0.05)) {
        at += sent.length; // lost
        continue;
      }
      // Late requests, of this stream and of earlier ones.
      const received = chance(random, 0.15) ? pick(random, old) : chance(random, 0.15) ? damage(random, bytes) : bytes;
      if (chance(random, 0.1)) writer = writerOf(unreliable(to, random));
      try {
        const position = await writer.apply(decodeFrames(inChunks(random, Buffer.from(received)), { complete: true }));
        if (position.revision > 0) await assertEqualAt(from, to, position.revision);
        if (received === bytes) at += sent.length;
      } catch (error) {
        if (!(error instanceof StoreError) || !['ImportFailed', 'StorageFailed'].includes(error.code)) throw error;
        // Frames that were lost are not sent again by this stream.
        if (chance(random, 0.3)) return;
      }
      await writeSome(to, random, '/registry/clusters/other/');
    }
  };
  for (let round = 0; round < 6; round++) {
    await writeSome(from, random, source);
    const { revision: after } = await writer.position();
    frames = await framesOf(from, after > 0 && chance(random, 0.5) ? after : undefined);
    await requests();
  }
  // Without failures, the replica becomes complete.
  const position = await writerOf(to).apply(await framesOf(from));
  assert.equal(position.revision, await from.revision());
  await assertEqualAt(from, to, position.revision);
}

test('a replica equals its source at every position, with damaged, repeated, lost, late and failed requests', async () => {
  for (let seed = 0; seed < 60; seed++) {
    await replicate(seed).catch((error: unknown) => {
      throw new Error(`seed ${seed}`, { cause: error });
    });
  }
});
