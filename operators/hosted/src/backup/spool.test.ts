import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { hasCode } from '@hangar/core';
import { spoolSnapshot } from './spool.ts';

const { signal } = new AbortController();

async function scratch(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-spool-'));
  context.after(() => rm(folder, { recursive: true }));
  return folder;
}

test('a stream that is not a snapshot is refused, and its file is removed', async (context) => {
  const folder = await scratch(context);
  async function* content() {
    yield Buffer.alloc(8_192 + 32);
  }
  await assert.rejects(spoolSnapshot(content(), folder, signal), (error) => hasCode(error, 'StorageDamaged'));
  assert.deepEqual(await readdir(folder), []);
});

test('a stream that fails leaves no file', async (context) => {
  const folder = await scratch(context);
  const failure = new Error('connection lost');
  async function* content() {
    yield Buffer.alloc(100);
    throw failure;
  }
  await assert.rejects(spoolSnapshot(content(), folder, signal), failure);
  assert.deepEqual(await readdir(folder), []);
});
