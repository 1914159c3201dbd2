import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { inPieces } from '../../testing/streams.ts';
import { describeDestination, names } from '../conformance/index.ts';
import { openDestination } from '../destination.ts';
import { folderStorage } from './folder-storage.ts';

const made: string[] = [];
after(() => Promise.all(made.map((folder) => rm(folder, { recursive: true, force: true }))));

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-backup-'));
  made.push(folder);
  return folder;
}

describeDestination('folder', { open: async () => folderStorage(await newFolder()), largeBytes: 600_000 });

describe('a folder', () => {
  test('must exist: a backup does not land below a mount point', async () => {
    const destination = openDestination(folderStorage(join(await newFolder(), 'volume')));
    await assert.rejects(destination.put('one', inPieces(Buffer.from('x'))), { code: 'BucketNotFound' });
    await assert.rejects(names(destination), { code: 'BucketNotFound' });
    await assert.rejects(destination.get('one'), { code: 'BucketNotFound' });
  });

  test('has files that only their owner can read', async () => {
    const folder = await newFolder();
    await openDestination(folderStorage(folder)).put('one', inPieces(Buffer.from('x')));
    const [data = ''] = await readdir(join(folder, 'data'));
    for (const path of ['one.backup.json', `data/${data}`]) {
      assert.equal((await stat(join(folder, path))).mode & 0o777, 0o600);
    }
    assert.equal((await stat(join(folder, 'data'))).mode & 0o777, 0o700);
  });

  test('removes files of writers that crashed', async () => {
    const folder = await newFolder();
    const destination = openDestination(folderStorage(folder));
    await destination.put('one', inPieces(Buffer.from('x')));
    const partial = join(folder, 'data', '.two.0.backup.abc.partial');
    await writeFile(partial, 'half');
    assert.equal(await destination.removeIncomplete({ olderThanMs: 0 }), 0);
    await utimes(partial, 0, 0);
    assert.equal(await destination.removeIncomplete({ olderThanMs: 0 }), 1);
    assert.equal((await readdir(join(folder, 'data'))).length, 1);
  });

  test('reports a file in its place', async () => {
    const folder = await newFolder();
    const file = join(folder, 'file');
    await writeFile(file, '');
    await assert.rejects(names(openDestination(folderStorage(file))), {
      code: 'BucketNotFound',
      message: /not a folder/,
    });
    await writeFile(join(folder, 'data'), '');
    const refused = openDestination(folderStorage(folder)).put('one', inPieces(Buffer.from('x')));
    await assert.rejects(refused, { code: 'StorageFailed', message: /ENOTDIR/ });
  });
});
