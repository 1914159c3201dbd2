import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { DatabaseSync } from 'node:sqlite';
import type { Revision, Write } from '../../contract.ts';
import { openEmbeddedStore } from './embedded-store.ts';
import { dataFiles } from './inspect.ts';
import { pragma } from './schema.ts';
import { put, TestFolder, withStore } from './testing.ts';

const folder = new TestFolder();
after(() => folder.remove());

const revisions = { createRevision: 3 as Revision, modRevision: 5 as Revision, version: 2 };
const restoredPut = (key: string): Write => ({ type: 'put', key, value: Buffer.from('1'), restored: revisions });

function inDatabase<T>(directory: string, action: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(dataFiles(directory).database);
  try {
    return action(database);
  } finally {
    database.close();
  }
}

const formatOf = (directory: string): unknown => inDatabase(directory, (database) => pragma(database, 'user_version'));

test('the first restored row changes the format, and other writes do not', async () => {
  const directory = folder.path();
  await withStore({ directory }, (store) => store.commit([put('/a', '1')]));
  assert.equal(formatOf(directory), 1);
  await withStore({ directory }, (store) => store.commit([put('/b', '1', { revisionMin: 1_000 as Revision })]));
  assert.equal(formatOf(directory), 1);
  await withStore({ directory }, (store) => store.commit([restoredPut('/c')]));
  assert.equal(formatOf(directory), 2);
  await withStore({ directory }, async (store) => {
    const { entry } = await store.get('/c');
    assert.deepEqual(
      { ...entry, value: Buffer.from(entry!.value).toString() },
      {
        key: '/c',
        value: '1',
        lease: undefined,
        ...revisions,
      },
    );
    assert.equal((await store.get('/b')).entry?.modRevision, 1_000);
  });
});

test('a restored put at the revision of its transaction is a normal row', async () => {
  const directory = folder.path();
  const restored = { createRevision: 3 as Revision, modRevision: 500 as Revision, version: 2 };
  await withStore({ directory }, (store) => store.commit([put('/a', '1', { restored })]));
  assert.equal(formatOf(directory), 1);
  await withStore({ directory }, async (store) => {
    const { entry } = await store.get('/a');
    assert.deepEqual([entry?.createRevision, entry?.modRevision, entry?.version], [3, 500, 2]);
  });
});

test('a changed revision of a restored row is damage', async () => {
  for (const created of ["'3 6'", "'2 5'", '3', "'3'", "'3 5 '", "'3 x'"]) {
    const directory = folder.path();
    await withStore({ directory }, async (store) => {
      for (let count = 0; count < 8; count++) await store.commit([put('/a', String(count))]);
      await store.commit([restoredPut('/c')]);
    });
    inDatabase(directory, (database) => database.exec(`UPDATE log SET created = ${created} WHERE key = '/c'`));
    await assert.rejects(openEmbeddedStore({ directory }), { code: 'StorageDamaged' }, created);
    await withStore({ directory, verifyBytesMax: 0 }, (store) =>
      assert.rejects(store.get('/c'), { code: 'StorageDamaged' }, created),
    );
  }
});

test('a killed process leaves the restored revisions that it acknowledged', async () => {
  const directory = folder.path();
  await withStore({ directory }, async (store) => {
    await store.commit([restoredPut('/a'), put('/skip', '', { revisionMin: 70_000 as Revision })]);
    const copy = folder.crashedCopyOf(directory);
    await withStore({ directory: copy }, async (crashed) => {
      const { entry } = await crashed.get('/a');
      assert.deepEqual([entry?.createRevision, entry?.modRevision, entry?.version], [3, 5, 2]);
      assert.equal(await crashed.revision(), 70_000);
      assert.ok((await crashed.commit([put('/b', '1')])).revision > 70_000);
    });
    assert.equal(formatOf(copy), 2);
  });
});

test('skipped revisions do not compact the history before them, also after a restart', async () => {
  const history = { ageMs: 3_600_000, revisionsMax: 1_000 };
  const directory = folder.path();
  const early = await withStore({ directory, history }, async (store) => {
    const { revision } = await store.commit([put('/a', 'early')]);
    for (let count = 0; count < 20; count++) await store.commit([put('/a', String(count))]);
    await store.commit([put('/skip', '', { revisionMin: 5_000_000 as Revision })]);
    return revision;
  });
  await withStore({ directory, history }, async (store) => {
    for (let count = 0; count < 20; count++) await store.commit([put('/a', String(count))]);
    // A compaction in progress would be before this one.
    await store.compact(1 as Revision);
    const { entry } = await store.get('/a', { atRevision: early });
    assert.equal(Buffer.from(entry!.value).toString(), 'early');
  });
});
