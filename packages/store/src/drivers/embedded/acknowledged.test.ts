import assert from 'node:assert/strict';
import fs, { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { after, mock, test } from 'node:test';
import type { Revision } from '../../contract.ts';
import { AcknowledgedMark, readMark } from './acknowledged.ts';
import { openEmbeddedStore } from './embedded-store.ts';
import { dataFiles } from './inspect.ts';
import { flip, put, refusalOf, TestFolder } from './testing.ts';

const folder = new TestFolder();
after(() => folder.remove());

const storeId = '00112233445566778899aabbccddeeff';

function markPath(): string {
  const directory = folder.path();
  mkdirSync(directory);
  return dataFiles(directory).mark;
}

test('a mark is read as it was written, the last one counts', () => {
  const path = markPath();
  const mark = new AcknowledgedMark(path, storeId);
  for (const revision of [1, 2 ** 40, Number.MAX_SAFE_INTEGER]) {
    mark.write(revision as Revision);
    assert.deepEqual(readMark(path), { revision, storeId });
  }
  mark.close();
});

test('no mark, half a mark and a damaged mark prove nothing', () => {
  const path = markPath();
  assert.equal(readMark(path), undefined);
  const mark = new AcknowledgedMark(path, storeId);
  assert.equal(readMark(path), undefined);
  mark.write(7 as Revision);
  mark.close();
  for (let offset = 0; offset < 28; offset++) {
    flip(path, offset, 0x04);
    assert.equal(readMark(path), undefined, `byte ${offset}`);
    flip(path, offset, 0x04);
  }
  assert.equal(readMark(path)?.revision, 7);
  truncateSync(path, 27);
  assert.equal(readMark(path), undefined);
});

test('the mark is at the revision that was acknowledged, after every commit', async () => {
  const directory = folder.path();
  const { mark } = dataFiles(directory);
  const store = await openEmbeddedStore({ directory });
  assert.equal(readMark(mark)?.revision, await store.revision());
  for (let at = 0; at < 5; at++) {
    const { revision } = await store.commit([put(`/k${at}`, 'x'), put(`/m${at}`, 'x')]);
    assert.equal(readMark(mark)?.revision, revision);
  }
  await Promise.all(Array.from({ length: 50 }, (_, at) => store.commit([put(`/p${at}`, 'x')])));
  assert.equal(readMark(mark)?.revision, await store.revision());
  await store.close();
  assert.ok(readMark(mark)!.revision > 50);
});

test('a store without a mark, or with a damaged one, opens and has a mark again', async () => {
  for (const spoil of [rmSync, (path: string) => writeFileSync(path, 'x'), (path: string) => flip(path, 3)]) {
    const directory = folder.path();
    const { mark } = dataFiles(directory);
    const store = await openEmbeddedStore({ directory });
    const { revision } = await store.commit([put('/a', '1')]);
    await store.close();
    spoil(mark);
    assert.equal((await refusalOf(directory)).code, 'opened');
    assert.equal(readMark(mark)?.revision, revision);
    assert.equal(readFileSync(mark).length, 28);
  }
});

test('a commit is acknowledged, and told to those who watch, although its mark cannot be written', async () => {
  const directory = folder.path();
  const store = await openEmbeddedStore({ directory });
  const watch = store.watch({ prefix: '/' });
  const before = readMark(dataFiles(directory).mark)!.revision;
  let refused = 0;
  mock.method(fs, 'writeSync', () => {
    refused++;
    throw Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'write' });
  });
  syncBuiltinESMExports();
  try {
    const { revision } = await store.commit([put('/a', '1')]);
    assert.equal(refused, 1);
    assert.equal((await watch.next())?.revision, revision);
    assert.equal(readMark(dataFiles(directory).mark)?.revision, before);
  } finally {
    mock.restoreAll();
    syncBuiltinESMExports();
  }
  const { revision } = await store.commit([put('/a', '2')]);
  assert.equal(readMark(dataFiles(directory).mark)?.revision, revision);
  await store.close();
});
