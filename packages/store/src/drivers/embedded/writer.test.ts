/** Tests of the writer thread as the store sees it: exit, order, queue and limits. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { after, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import type { CommitResult, Store } from '../../contract.ts';
import type { StoreError } from '../../errors.ts';
import { openEmbeddedStore } from './embedded-store.ts';
import { dataFiles } from './inspect.ts';
import { put, TestFolder, withStore } from './testing.ts';

const folder = new TestFolder();
after(() => folder.remove());

/** A store and the thread behind it. */
async function openWithThread(): Promise<{ directory: string; store: Store; thread: Worker }> {
  const directory = folder.path();
  const started = once(process, 'worker') as Promise<[Worker]>;
  const store = await openEmbeddedStore({ directory });
  const [thread] = await started;
  return { directory, store, thread };
}

function codeOf(commit: Promise<CommitResult>): Promise<string> {
  return commit.then(
    () => 'acknowledged',
    (error: StoreError) => error.code,
  );
}

test('when the thread dies, commits that wait are left open, later ones refused, and reads go on', async () => {
  const { directory, store, thread } = await openWithThread();
  const { revision } = await store.commit([put('/a', '1')]);
  const waiting = Array.from({ length: 20 }, (_, at) => codeOf(store.commit([put(`/w${at}`, 'x'.repeat(10_000))])));
  await Promise.resolve(); // the group is on its way
  await thread.terminate();
  const codes = await Promise.all(waiting);
  assert.ok(
    codes.every((code) => code === 'StorageFailed' || code === 'acknowledged'),
    codes.join(),
  );
  assert.equal(await codeOf(store.commit([put('/b', '1')])), 'StorageFailed');
  assert.equal((await store.get('/a')).entry?.modRevision, revision);
  assert.equal((await store.range({ start: '/a', end: '/b' })).entries.length, 1);
  await assert.rejects(store.grantLease(60_000), { code: 'StorageFailed' });
  await assert.rejects(store.compact(revision), { code: 'StorageFailed' });
  await store.close();
  await withStore({ directory }, async (reopened) => {
    assert.equal((await reopened.get('/a')).entry?.modRevision, revision);
    assert.equal((await reopened.get('/b')).entry, undefined);
    const { entries } = await reopened.range({ start: '/w', end: '/x' });
    for (const [at, code] of codes.entries()) {
      if (code === 'acknowledged')
        assert.ok(
          entries.some(({ key }) => key === `/w${at}`),
          `/w${at}`,
        );
    }
    await reopened.commit([put('/b', '2')]);
  });
});

test('a closed store waits for commits under way', async () => {
  const directory = folder.path();
  const store = await openEmbeddedStore({ directory });
  const commits = Array.from({ length: 300 }, (_, at) => store.commit([put(`/k${at}`, 'x'.repeat(20_000))]));
  let done = 0;
  for (const commit of commits) void commit.then(() => done++);
  await store.close();
  assert.equal(done, 300);
  const results = await Promise.all(commits);
  await withStore({ directory }, async (reopened) => {
    for (const [at, { revision }] of results.entries()) {
      assert.equal((await reopened.get(`/k${at}`)).entry?.modRevision, revision);
    }
  });
});

test('the journal file stays small however much is written', async () => {
  const directory = folder.path();
  await withStore({ directory, checkpointPages: 50 }, async (store) => {
    for (let round = 0; round < 40; round++) {
      await Promise.all(
        Array.from({ length: 10 }, (_, at) => store.commit([put(`/k${round}-${at}`, 'x'.repeat(8_000))])),
      );
      await store.get('/k0-0');
    }
    const { size } = statSync(dataFiles(directory).journal);
    assert.ok(size < 1_000_000, `${size} bytes after 3,200,000 were written`);
  });
});

test('ten thousand commits at once are acknowledged or refused as too many, in bounded memory', async (context) => {
  const { directory, store, thread } = await openWithThread();
  context.after(() => store.close());
  const value = new Uint8Array(100_000); // shared by all: only the memory of the store is measured
  // Other test files of this process leave buffers behind.
  const { arrayBuffers: before } = process.memoryUsage();
  const count = 10_000;
  const outcomes = Array.from({ length: count }, (_, at) =>
    codeOf(store.commit([{ type: 'put', key: `/k${at}`, value }])),
  );
  // Only the group in progress is copied, not the whole gigabyte that waits.
  const copies = process.memoryUsage().arrayBuffers - before;
  assert.ok(copies < 100_000_000, `${copies} bytes of copies`);
  const overloaded = (await Promise.all(outcomes.slice(5_000))).filter((code) => code === 'Overloaded');
  assert.equal(overloaded.length, 5_000);
  // The disk need not take the rest for this test.
  await thread.terminate();
  const codes = await Promise.all(outcomes);
  assert.deepEqual(
    [...new Set(codes)].sort(),
    ['Overloaded', 'StorageFailed', 'acknowledged'].filter((code) => codes.includes(code)),
  );
  const accepted = codes.filter((code) => code !== 'Overloaded').length;
  assert.ok(accepted >= 2_500 && accepted < 3_000, `${accepted} were accepted`);
  await store.close();
  await withStore({ directory }, async (reopened) => {
    const found = new Set((await reopened.range({ start: '/k' }, { keysOnly: true })).entries.map(({ key }) => key));
    codes.forEach((code, at) => {
      if (code === 'acknowledged') assert.ok(found.has(`/k${at}`));
      if (code === 'Overloaded') assert.ok(!found.has(`/k${at}`));
    });
  });
});

test('a group that fails leaves the writer able to go on', async () => {
  const directory = folder.path();
  await withStore({ directory }, async (store) => {
    const before = await store.commit([put('/a', '1')]);
    // A lease that does not exist fails alone, not the group that it is in.
    const codes = await Promise.all([
      codeOf(store.commit([put('/b', '1')])),
      codeOf(store.commit([put('/c', '1', { lease: 'ffffffffffffff' as never })])),
      codeOf(store.commit([put('/d', '1')])),
    ]);
    assert.deepEqual(codes, ['acknowledged', 'LeaseNotFound', 'acknowledged']);
    const { entries } = await store.range({ start: '/' });
    assert.deepEqual(
      entries.map(({ key, modRevision }) => [key, modRevision]),
      [
        ['/a', before.revision],
        ['/b', before.revision + 1],
        ['/d', before.revision + 2],
      ],
    );
  });
});
