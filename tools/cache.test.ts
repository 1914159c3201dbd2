import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { cachedPath, place } from './cache.ts';
import { it, testWorld, writeExecutable } from './testing.ts';

const tells = (version: string) => ({ run: () => ({ stdout: `it version ${version}` }) });

test('files beside the program move with it and replace those of an earlier run', async (context) => {
  const world = await testWorld(context, tells('3.6.1'));
  for (const content of ['first', 'second']) {
    const placed = await place(it, 'v3.6.1', world, async (partial) => {
      await mkdir(join(dirname(partial), 'root'));
      await writeFile(join(dirname(partial), 'root', 'library'), content);
      await writeFile(partial, content);
    });
    assert.ok('path' in placed);
    assert.deepEqual((await readdir(dirname(placed.path))).sort(), ['it', 'root']);
    assert.equal(await readFile(join(dirname(placed.path), 'root', 'library'), 'utf8'), content);
  }
});

test('what was made is checked and appears in its place', async (context) => {
  const world = await testWorld(context, tells('3.6.1'));
  const placed = await place(it, 'v3.6.1', world, async (partial) => void (await writeFile(partial, 'content')));
  const path = join(world.cacheFolder, 'it', 'v3.6.1-linux-amd64', 'it');
  assert.deepEqual(placed, { path });
  assert.equal(await readFile(path, 'utf8'), 'content');
});

test('a program that reports another version does not get into the cache', async (context) => {
  const world = await testWorld(context, tells('0.0.0-master'));
  const placed = await place(it, 'v3.6.1', world, async (partial) => void (await writeFile(partial, 'content')));
  assert.deepEqual(placed, { reason: 'what it gave is v0.0.0-master instead of v3.6.1' });
  assert.deepEqual(await readdir(dirname(cachedPath(it, 'v3.6.1', world))), []);
});

test('the reason of a maker that cannot is passed on', async (context) => {
  const world = await testWorld(context);
  assert.deepEqual(await place(it, 'v3.6.1', world, async () => 'no space'), { reason: 'no space' });
});

test('what an interrupted run left behind is removed', async (context) => {
  const world = await testWorld(context, tells('3.6.1'));
  const left = join(dirname(cachedPath(it, 'v3.6.1', world)), '.partial.1.it');
  await writeExecutable(left);
  await place(it, 'v3.6.1', world, async (partial) => void (await writeFile(partial, 'content')));
  assert.ok(!existsSync(left));
});
