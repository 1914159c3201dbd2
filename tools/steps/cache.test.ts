import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cachedPath } from '../cache.ts';
import { it, testWorld, writeExecutable } from '../testing.ts';
import { cache } from './cache.ts';

test('the pinned version is found', async (context) => {
  const world = await testWorld(context);
  const path = await writeExecutable(cachedPath(it, 'v3.6.1', world));
  assert.deepEqual(await cache.attempt(it, world), { path, version: 'v3.6.1', from: 'cache' });
});

test('another version does not count', async (context) => {
  const world = await testWorld(context);
  await writeExecutable(cachedPath(it, 'v3.6.0', world));
  assert.deepEqual(await cache.attempt(it, world), { reason: `nothing at ${cachedPath(it, 'v3.6.1', world)}` });
});
