/** One test suite for every kind of destination. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom, systemClock } from '@hangar/core';
import { collected, inPieces } from '../../testing/streams.ts';
import { openDestination } from '../destination.ts';
import type { BackupDestination } from '../destination.ts';
import type { ObjectStorage } from '../object-storage.ts';
import { dataPrefix } from '../record.ts';

export interface Subject {
  /** A storage without objects. */
  open(): Promise<ObjectStorage>;
  /** Size of a stream that the storage does not store with one request. */
  readonly largeBytes: number;
}

const hourMs = 3_600_000;

export async function names(destination: BackupDestination): Promise<string[]> {
  return (await Array.fromAsync(destination.list())).map(({ name }) => name);
}

/** Keys of all data objects, also of those that do not belong to a backup. */
export async function dataKeys(storage: ObjectStorage): Promise<string[]> {
  return (await Array.fromAsync(storage.list(dataPrefix))).map(({ key }) => key);
}

async function* failing(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  yield* inPieces(bytes);
  throw new Error('the export failed');
}

export function describeDestination(name: string, subject: Subject): void {
  describe(`${name}: a destination`, () => {
    const small = Buffer.from('a small backup');
    const large = Buffer.from(seededRandom(1).bytes(subject.largeBytes));

    test('keeps the facts that are known after the stream finished', async () => {
      const destination = openDestination(await subject.open());
      let isFinished = false;
      async function* content(): AsyncGenerator<Uint8Array, void, void> {
        yield small;
        isFinished = true;
      }
      const facts = () => Promise.resolve({ objects: isFinished ? '7' : 'unknown' });
      await destination.put('one', content(), { facts });
      assert.deepEqual((await destination.stat('one'))?.facts, { objects: '7' });
      assert.deepEqual(
        (await Array.fromAsync(destination.list())).map((one) => one.facts),
        [{ objects: '7' }],
      );
      const tooLong = () => Promise.resolve({ long: '"'.repeat(1_000) });
      await assert.rejects(destination.put('two', inPieces(small), { facts: tooLong }), { code: 'InvalidName' });
      assert.deepEqual(await names(destination), ['one']);
    });

    test('returns what was stored, lists it, and forgets what was deleted', async () => {
      const storage = await subject.open();
      const destination = openDestination(storage);
      assert.deepEqual(await names(destination), []);
      assert.equal(await destination.stat('one'), undefined);
      await assert.rejects(destination.get('one'), { code: 'NotFound' });
      let progress = 0;
      const onProgress = (bytes: number): void => void (progress = bytes);
      const stored = await destination.put('one', inPieces(large), { onProgress });
      assert.equal(stored.sizeBytes, large.length);
      assert.equal(progress, large.length);
      await destination.put('two', inPieces(small));
      await destination.put('none', inPieces(Buffer.alloc(0)));
      assert.deepEqual(await names(destination), ['none', 'one', 'two']);
      assert.deepEqual(await destination.stat('one'), stored);
      for (const [key, bytes] of [
        ['one', large],
        ['two', small],
        ['none', Buffer.alloc(0)],
      ] as const) {
        const { record, content } = await destination.get(key);
        assert.equal(record.name, key);
        assert.ok((await collected(content)).equals(bytes), key);
      }
      await destination.delete('one');
      await destination.delete('never');
      assert.deepEqual(await names(destination), ['none', 'two']);
      assert.equal((await dataKeys(storage)).length, 2);
    });

    test('keeps a backup that a new one must not replace, and replaces it completely', async () => {
      const storage = await subject.open();
      const destination = openDestination(storage);
      await destination.put('one', inPieces(small));
      await assert.rejects(destination.put('one', inPieces(large)), { code: 'AlreadyExists' });
      assert.ok((await collected((await destination.get('one')).content)).equals(small));
      await destination.put('one', inPieces(large), { ifExists: 'replace', verify: 'read' });
      assert.ok((await collected((await destination.get('one')).content)).equals(large));
      assert.equal((await dataKeys(storage)).length, 1, 'the old data is removed');
    });

    test('keeps the old backup and leaves nothing when the source fails', async () => {
      const storage = await subject.open();
      const destination = openDestination(storage);
      await destination.put('one', inPieces(small));
      for (const bytes of [small, large]) {
        await assert.rejects(destination.put('one', failing(bytes), { ifExists: 'replace' }), /the export failed/);
        await assert.rejects(destination.put('two', failing(bytes)), /the export failed/);
      }
      assert.deepEqual(await names(destination), ['one']);
      assert.ok((await collected((await destination.get('one')).content)).equals(small));
      assert.equal((await dataKeys(storage)).length, 1);
      assert.equal(await storage.removeIncomplete(dataPrefix, Date.now() + hourMs), 0, 'no part is left');
    });

    test('stops with its signal', async () => {
      const destination = openDestination(await subject.open());
      const stop = new AbortController();
      const source = async function* (): AsyncGenerator<Uint8Array, void, void> {
        for (let at = 0; ; at++) {
          if (at === 40) stop.abort();
          yield large.subarray(0, 256 * 1024);
        }
      };
      await assert.rejects(destination.put('one', source(), { signal: stop.signal }), { code: 'Aborted' });
      assert.deepEqual(await names(destination), []);
    });

    test('lists one of two backups of the same name that are stored at once', async () => {
      const storage = await subject.open();
      const destination = openDestination(storage);
      const results = await Promise.allSettled([
        destination.put('one', inPieces(small)),
        destination.put('one', inPieces(large)),
      ]);
      assert.ok(results.some(({ status }) => status === 'fulfilled'));
      for (const result of results) {
        if (result.status === 'rejected') assert.equal(result.reason.code, 'AlreadyExists');
      }
      assert.deepEqual(await names(destination), ['one']);
      const { record, content } = await destination.get('one');
      assert.equal((await collected(content)).length, record.sizeBytes);
    });

    test('does not list a backup with a damaged record or without all of its data', async () => {
      const storage = await subject.open();
      const destination = openDestination(storage);
      for (const key of ['cut', 'good', 'gone', 'hostile']) await destination.put(key, inPieces(small));
      const key = (of: string, all: readonly string[]): string => all.find((one) => one.includes(`/${of}.`))!;
      const data = await dataKeys(storage);
      await storage.write(key('cut', data), small.subarray(1), { isNew: false });
      await storage.remove(key('gone', data));
      await storage.write('hostile.backup.json', Buffer.from('{"kind":"HangarBackup","format":1}'), { isNew: false });
      await storage.write('notes.txt', Buffer.from('not a backup'), { isNew: true });
      const damaged = new Map<string, string>();
      const listed = await Array.fromAsync(
        destination.list({ onDamaged: (name, error) => damaged.set(name, error.name) }),
      );
      assert.deepEqual(
        listed.map(({ name }) => name),
        ['good'],
      );
      assert.deepEqual([...damaged].sort(), [
        ['cut', 'Corrupted'],
        ['gone', 'Corrupted'],
        ['hostile', 'Corrupted'],
      ]);
      for (const name of damaged.keys()) await assert.rejects(destination.get(name), { code: 'Corrupted' });
      await assert.rejects(destination.put('cut', inPieces(small)), { code: 'AlreadyExists' });
      await destination.put('cut', inPieces(small), { ifExists: 'replace' });
      assert.deepEqual(await names(destination), ['cut', 'good']);
    });

    test('detects data that was changed without a change of its size', async () => {
      const storage = await subject.open();
      const destination = openDestination(storage);
      await destination.put('one', inPieces(small));
      const [key = ''] = await dataKeys(storage);
      await storage.write(key, Buffer.from(small).fill('x', 3, 4), { isNew: false });
      const { content } = await destination.get('one');
      await assert.rejects(collected(content), { code: 'Corrupted' });
    });

    test('removes data that belongs to no backup only when it is old', async () => {
      const storage = await subject.open();
      const destination = openDestination(storage);
      await destination.put('one', inPieces(small));
      await storage.upload(`${dataPrefix}lost.${'0'.repeat(32)}.backup`, inPieces(small));
      assert.equal(await destination.removeIncomplete({ olderThanMs: 0 }), 0, 'an hour at least');
      const later = openDestination(storage, { clock: { ...systemClock, now: () => Date.now() + 2 * hourMs } });
      assert.equal(await later.removeIncomplete({ olderThanMs: hourMs }), 1);
      assert.deepEqual(await names(destination), ['one']);
      assert.equal((await dataKeys(storage)).length, 1);
    });

    test('refuses names that could leave its place', async () => {
      const destination = openDestination(await subject.open());
      for (const bad of ['', '.', '..', '../x', 'a/b', '.hidden', 'ü', 'x'.repeat(201), 'a\nb']) {
        await assert.rejects(destination.put(bad, inPieces(small)), { code: 'InvalidName' });
        await assert.rejects(destination.delete(bad), { code: 'InvalidName' });
        await assert.rejects(destination.get(bad), { code: 'InvalidName' });
      }
    });
  });
}
