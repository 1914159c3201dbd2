/** One process per data directory; the lock is released when the process exits, for any reason. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { after, afterEach, test } from 'node:test';
import { openEmbeddedStore } from './embedded-store.ts';
import { dataFiles } from './inspect.ts';
import { put, refusalOf, TestFolder, withStore } from './testing.ts';

const folder = new TestFolder();
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
after(() => folder.remove());

/** Opens the directory and prints `open`, or the code and message of the refusal; holds it until it is killed. */
const holder = `
  import(${JSON.stringify(new URL('./embedded-store.ts', import.meta.url).href)})
    .then(({ openEmbeddedStore }) => openEmbeddedStore({ directory: process.argv[1] }))
    .then(async (store) => {
      await store.commit([{ type: 'put', key: '/of-child', value: Buffer.from(String(process.pid)) }]);
      console.log('open');
    })
    .catch((error) => console.log(error.code + ' ' + error.message));
  setInterval(() => {}, 1_000);
`;

async function startHolder(directory: string): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(process.execPath, ['-e', holder, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [said] = (await once(createInterface(child.stdout!), 'line')) as [string];
  return { child, said };
}

test('a second store in the same process is refused, and the first goes on', async () => {
  const directory = folder.path();
  await withStore({ directory }, async (store) => {
    const { code, message } = await refusalOf(directory);
    assert.equal(code, 'StorageInUse');
    assert.match(message, new RegExp(`${directory} is in use by process ${process.pid}: `));
    await store.commit([put('/a', '1')]);
  });
  assert.equal((await refusalOf(directory)).code, 'opened');
});

test('a second process is refused and hears which one has the directory', async () => {
  const directory = folder.path();
  await withStore({ directory }, async (store) => {
    const { said } = await startHolder(directory);
    assert.match(said, new RegExp(`^StorageInUse .* is in use by process ${process.pid}: .*choose another directory`));
    await store.commit([put('/a', '1')]);
    assert.equal((await store.get('/of-child')).entry, undefined);
  });
});

test('the lock of a killed process is free at once, and what it was told is there', async () => {
  const directory = folder.path();
  const { child, said } = await startHolder(directory);
  assert.equal(said, 'open');
  const refusal = await refusalOf(directory);
  assert.equal(refusal.code, 'StorageInUse');
  assert.match(refusal.message, new RegExp(`in use by process ${child.pid}`));
  child.kill('SIGKILL');
  await once(child, 'exit');
  await withStore({ directory }, async (store) => {
    const { entry } = await store.get('/of-child');
    assert.equal(Buffer.from(entry!.value).toString(), String(child.pid));
  });
});

test('of several processes that start at once, one gets the directory', async () => {
  const directory = folder.path();
  const holders = await Promise.all([1, 2, 3].map(() => startHolder(directory)));
  const said = holders.map((holder) => holder.said.split(' ')[0]).sort();
  assert.deepEqual(said, ['StorageInUse', 'StorageInUse', 'open']);
});

test('a directory that was refused as damaged is not kept locked', async () => {
  const directory = folder.path();
  await withStore({ directory }, (store) => store.commit([put('/a', '1')]));
  writeFileSync(dataFiles(directory).rollbackJournal, 'x');
  assert.equal((await refusalOf(directory)).code, 'StorageDamaged');
  assert.equal((await refusalOf(directory)).code, 'StorageDamaged');
});

test('nothing is lost when the directory is handed from process to process', async () => {
  const directory = folder.path();
  for (let round = 0; round < 3; round++) {
    const { child } = await startHolder(directory);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const store = await openEmbeddedStore({ directory });
    await store.commit([put(`/of-parent/${round}`, 'x')]);
    assert.equal((await store.get('/of-child')).entry?.version, round + 1);
    await store.close();
  }
});
