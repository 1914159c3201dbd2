import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { withLock } from './lock.ts';
import { testWorld } from './testing.ts';

test('two workers take turns, and the second knows that it waited', async (context) => {
  const path = join((await testWorld(context)).folder, 'it.lock');
  const events: string[] = [];
  const holding = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const first = withLock({ path }, async (waited) => {
    events.push(`first, waited ${waited}`);
    holding.resolve();
    await release.promise;
    events.push('first ends');
  });
  await holding.promise;
  const onWait = () => {
    events.push('second waits');
    release.resolve();
  };
  await withLock({ path, pollMs: 5, onWait }, async (waited) => void events.push(`second, waited ${waited}`));
  await first;
  assert.deepEqual(events, ['first, waited false', 'second waits', 'first ends', 'second, waited true']);
  assert.ok(!existsSync(path));
});

test('the lock is released when the work fails', async (context) => {
  const path = join((await testWorld(context)).folder, 'it.lock');
  await assert.rejects(
    withLock({ path }, () => Promise.reject(new Error('broken'))),
    /broken/,
  );
  assert.ok(!existsSync(path));
});

test('the lock of a process that is no more is taken over at once', async (context) => {
  const path = join((await testWorld(context)).folder, 'it.lock');
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  await writeFile(path, JSON.stringify({ pid, host: hostname(), token: 'theirs' }));
  assert.equal(await withLock({ path, pollMs: 60_000 }, async (waited) => waited), false);
});

test('a lock from another host is taken over only when nobody has touched it for long', async (context) => {
  const path = join((await testWorld(context)).folder, 'it.lock');
  await writeFile(path, JSON.stringify({ pid: 1, host: 'elsewhere', token: 'theirs' }));
  const onWait = () => {
    const old = new Date(Date.now() - 61_000);
    void utimes(path, old, old);
  };
  assert.equal(await withLock({ path, pollMs: 20, onWait }, async (waited) => waited), true);
});
