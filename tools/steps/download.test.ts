import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { cachedPath } from '../cache.ts';
import { it, testWorld } from '../testing.ts';
import { download, findChecksum } from './download.ts';

const content = 'a program';
const sha256 = createHash('sha256').update(content).digest('hex');
const run = () => ({ stdout: 'it 3.6.1' });

test('a download with the published checksum lands in the cache', async (context) => {
  const world = await testWorld(context, {
    run,
    fetch: (url) => new Response(url.endsWith('sums') ? sha256 : content),
  });
  const path = cachedPath(it, 'v3.6.1', world);
  assert.deepEqual(await download.attempt(it, world), { path, version: 'v3.6.1', from: 'download (example.org)' });
  assert.equal(await readFile(path, 'utf8'), content);
});

test('a download with another checksum is refused', async (context) => {
  const world = await testWorld(context, {
    run,
    fetch: (url) => new Response(url.endsWith('sums') ? sha256 : 'forged'),
  });
  const outcome = await download.attempt(it, world);
  assert.match('reason' in outcome ? outcome.reason : '', new RegExp(`has the SHA-256 .*, published is ${sha256}`));
});

test('a missing release says its status', async (context) => {
  const world = await testWorld(context, { fetch: () => new Response('', { status: 404 }) });
  assert.deepEqual(await download.attempt(it, world), { reason: 'https://example.org/v3.6.1/sums answers 404' });
});

test('a network that is not there says why', async (context) => {
  const world = await testWorld(context);
  assert.deepEqual(await download.attempt(it, world), {
    reason: 'https://example.org/v3.6.1/sums cannot be reached: no network',
  });
});

test('a checksum is found alone and among those of other files', () => {
  const other = 'f'.repeat(64);
  assert.equal(findChecksum(`${sha256}\n`, 'it'), sha256);
  assert.equal(findChecksum(`${other}  other\n${sha256}  it\n`, 'it'), sha256);
  assert.equal(findChecksum(`${other}  other\n`, 'it'), undefined);
});
