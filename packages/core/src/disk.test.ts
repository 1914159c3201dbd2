/** The contract of `Disk`, tested on real files and on the virtual disk. */

import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from './clock.ts';
import { systemDisk } from './disk.ts';
import type { Disk } from './disk.ts';
import { seededRandom } from './random.ts';
import { VirtualDisk } from './simulation/virtual-disk.ts';

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

/** Runs `work` with a separate directory. */
type World = (work: (disk: Disk, directory: string) => Promise<void>) => Promise<void>;

const worlds: Record<string, World> = {
  async 'the system disk'(work) {
    const directory = await mkdtemp(join(tmpdir(), 'hangar-disk-'));
    try {
      await work(systemDisk, directory);
    } finally {
      await rm(directory, { recursive: true });
    }
  },
  'the virtual disk': (work) =>
    work(new VirtualDisk({ clock: systemClock, random: seededRandom(1), latencyMaxMs: 0 }), '/data'),
};

for (const [name, world] of Object.entries(worlds)) {
  describe(name, () => {
    test('reads back what was written, anywhere in the file', () =>
      world(async (disk, directory) => {
        const file = await disk.open(`${directory}/a`, { create: true });
        assert.equal(await file.size(), 0);
        await file.write(0, Buffer.from('hello'));
        await file.write(5, Buffer.from(' world'));
        await file.write(0, Buffer.from('J'));
        assert.equal(await file.size(), 11);
        assert.equal(text(await file.read(0, 100)), 'Jello world', 'fewer bytes at the end');
        assert.equal(text(await file.read(6, 3)), 'wor');
        assert.equal((await file.read(11, 5)).length, 0);
        assert.equal((await file.read(50, 5)).length, 0);
        await file.write(0, new Uint8Array());
        assert.equal(await file.size(), 11);
        await file.sync();
        await file.close();
      }));

    test('a gap reads as zeros, behind a write as behind a truncation', () =>
      world(async (disk, directory) => {
        const file = await disk.open(`${directory}/a`, { create: true });
        await file.write(0, Buffer.from('abcdefgh'));
        await file.truncate(3);
        assert.equal(await file.size(), 3);
        await file.truncate(5);
        assert.equal(text(await file.read(0, 10)), 'abc\0\0');
        await file.write(7, Buffer.from('x'));
        assert.equal(text(await file.read(0, 10)), 'abc\0\0\0\0x');
        await file.close();
      }));

    test('keeps a file for the next who opens it, and empties none', () =>
      world(async (disk, directory) => {
        const first = await disk.open(`${directory}/a`, { create: true });
        await first.write(0, Buffer.from('kept'));
        await first.close();
        for (const options of [{ create: true }, { create: false }, undefined]) {
          const again = await disk.open(`${directory}/a`, options);
          assert.equal(text(await again.read(0, 10)), 'kept');
          await again.close();
        }
      }));

    test('a file that is not there is ENOENT unless it is created', () =>
      world(async (disk, directory) => {
        await assert.rejects(disk.open(`${directory}/none`), { code: 'ENOENT' });
        await assert.rejects(disk.rename(`${directory}/none`, `${directory}/other`), { code: 'ENOENT' });
        await disk.remove(`${directory}/none`);
      }));

    test('creates the directory with the file', () =>
      world(async (disk, directory) => {
        const file = await disk.open(`${directory}/deep/er/a`, { create: true });
        await file.close();
        assert.deepEqual(await disk.list(`${directory}/deep/er`), ['a']);
        await disk.syncDirectory(`${directory}/deep/er`);
      }));

    test('renames over what was there, under open files too', () =>
      world(async (disk, directory) => {
        const [a, b] = [
          await disk.open(`${directory}/a`, { create: true }),
          await disk.open(`${directory}/b`, { create: true }),
        ];
        await a.write(0, Buffer.from('new'));
        await b.write(0, Buffer.from('old'));
        await disk.rename(`${directory}/a`, `${directory}/b`);
        await a.write(3, Buffer.from('er'));
        assert.deepEqual(await disk.list(directory), ['b']);
        const again = await disk.open(`${directory}/b`);
        assert.equal(text(await again.read(0, 10)), 'newer');
        assert.equal(text(await b.read(0, 10)), 'old', 'who has the old one open still has it');
        for (const file of [a, b, again]) await file.close();
      }));

    test('removes a name', () =>
      world(async (disk, directory) => {
        for (const name of ['a', 'b']) await (await disk.open(`${directory}/${name}`, { create: true })).close();
        await disk.remove(`${directory}/a`);
        assert.deepEqual(await disk.list(directory), ['b']);
        await assert.rejects(disk.open(`${directory}/a`), { code: 'ENOENT' });
      }));

    test('does not mind what happens to the bytes after a write', () =>
      world(async (disk, directory) => {
        const file = await disk.open(`${directory}/a`, { create: true });
        const bytes = Buffer.from('mine');
        await file.write(0, bytes);
        bytes.fill('x');
        await file.sync();
        const read = await file.read(0, 4);
        read.fill(0);
        assert.equal(text(await file.read(0, 4)), 'mine');
        await file.close();
      }));

    test('writes large pieces whole', () =>
      world(async (disk, directory) => {
        const file = await disk.open(`${directory}/a`, { create: true });
        const bytes = Uint8Array.from({ length: 3_000_000 }, (_, at) => (at * 7) % 251);
        await file.write(10, bytes);
        assert.ok(Buffer.from(bytes).equals(await file.read(10, 5_000_000)));
        await file.close();
      }));
  });
}

test('the system disk makes files that only their owner can read', async () => {
  await worlds['the system disk']!(async (disk, directory) => {
    await (await disk.open(`${directory}/secret`, { create: true })).close();
    assert.equal((await stat(join(directory, 'secret'))).mode & 0o777, 0o600);
  });
});

test('the system disk passes on the codes of the system', async () => {
  await worlds['the system disk']!(async (disk, directory) => {
    await assert.rejects(disk.open(directory), { code: 'EISDIR' });
    await assert.rejects(disk.list(`${directory}/none`), { code: 'ENOENT' });
    await assert.rejects(disk.syncDirectory(`${directory}/none`), { code: 'ENOENT' });
  });
});
