import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { hasCode } from '@hangar/core';
import {
  activateVolume,
  cleanVolume,
  prepareVolume,
  restoredDataFolder,
  revertVolume,
  verifyVolume,
} from './member-volume.ts';
import type { MemberVolume } from './member-volume.ts';

async function volume(context: TestContext, ...data: ('old' | 'new')[]): Promise<MemberVolume> {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-volume-'));
  context.after(() => rm(folder, { recursive: true }));
  const one = { folder, restore: 'u1' };
  if (data.includes('old')) await write(join(folder, 'member'), 'old');
  if (data.includes('new')) await write(join(restoredDataFolder(one), 'member'), 'new');
  return one;
}

async function write(folder: string, content: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'data'), content);
}

const current = ({ folder }: MemberVolume): Promise<string> => readFile(join(folder, 'member', 'data'), 'utf8');

test('the restored data replaces the current data, which stays until it is removed', async (context) => {
  const one = await volume(context, 'old', 'new');
  await activateVolume(one);
  assert.equal(await current(one), 'new');
  assert.deepEqual((await readdir(one.folder)).sort(), ['before-u1', 'member']);
  // Repeated after an interruption.
  await activateVolume(one);
  assert.equal(await current(one), 'new');
  await cleanVolume(one);
  await cleanVolume(one);
  assert.deepEqual(await readdir(one.folder), ['member']);
});

test('an activation that was interrupted between its renames continues', async (context) => {
  const one = await volume(context, 'new');
  await write(join(one.folder, 'before-u1'), 'old');
  await activateVolume(one);
  assert.equal(await current(one), 'new');
  assert.equal(await readFile(join(one.folder, 'before-u1', 'data'), 'utf8'), 'old');
});

test('replaced data is put back, also repeatedly', async (context) => {
  const one = await volume(context, 'old', 'new');
  await activateVolume(one);
  await revertVolume(one);
  await revertVolume(one);
  assert.equal(await current(one), 'old');
  assert.deepEqual(await readdir(one.folder), ['member']);
});

test('a member whose data was not replaced keeps it in a revert', async (context) => {
  const one = await volume(context, 'old', 'new');
  await revertVolume(one);
  assert.equal(await current(one), 'old');
});

test('a volume of a new control plane has only the restored data', async (context) => {
  const one = await volume(context, 'new');
  await activateVolume(one);
  assert.equal(await current(one), 'new');
  assert.deepEqual(await readdir(one.folder), ['member']);
});

test('nothing is activated without restored data', async (context) => {
  await assert.rejects(activateVolume(await volume(context)), (error) => hasCode(error, 'NotRestored'));
  const expected = { contentDigest: '', entries: 0, revision: 0 };
  await assert.rejects(verifyVolume(await volume(context), expected), (error) => hasCode(error, 'NotRestored'));
});

test('data of an interrupted run of etcdutl is removed before the next one', async (context) => {
  const one = await volume(context, 'old', 'new');
  await prepareVolume(one);
  assert.equal(await current(one), 'old');
  await assert.rejects(readdir(restoredDataFolder(one)), (error) => hasCode(error, 'ENOENT'));
});

test('a UID that is not a name of a folder is refused', async (context) => {
  const one = await volume(context, 'old');
  for (const restore of ['', '../x', 'a/b', '.']) {
    await assert.rejects(
      async () => cleanVolume({ ...one, restore }),
      (error) => hasCode(error, 'InvalidRestore'),
    );
  }
});
