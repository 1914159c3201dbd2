import assert from 'node:assert/strict';
import { symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { it, testWorld, writeExecutable } from '../testing.ts';
import { path } from './path.ts';

test('a program of an acceptable version is found', async (context) => {
  const world = await testWorld(context, { run: () => ({ stdout: 'it 3.5.2' }) });
  const installed = await world.install('it');
  assert.deepEqual(await path.attempt(it, world), { path: installed, version: 'v3.5.2', from: 'PATH' });
});

test('a wrapper in front does not hide the real program behind it', async (context) => {
  const world = await testWorld(context, {
    run: ({ command }) => ({ stdout: command.includes('bin') ? '3.6.0-wrapper' : '3.6.0' }),
  });
  await world.install('it');
  const real = await writeExecutable(join(world.folder, 'later', 'it'));
  world.env['PATH'] += `${delimiter}${join(world.folder, 'later')}`;
  assert.deepEqual(await path.attempt(it, world), { path: real, version: 'v3.6.0', from: 'PATH' });
});

test('a program that is too old is refused with its path, and once only though PATH reaches it twice', async (context) => {
  const world = await testWorld(context, { run: () => ({ stdout: 'it 3.4.9' }) });
  const installed = await world.install('it');
  await symlink(join(world.folder, 'bin'), join(world.folder, 'alias'));
  world.env['PATH'] += `${delimiter}${join(world.folder, 'alias')}`;
  assert.deepEqual(await path.attempt(it, world), { reason: `${installed} is v3.4.9, older than 3.5` });
});

test('a program that hangs or fails is refused', async (context) => {
  const world = await testWorld(context, { run: () => ({ failure: 'no end after 10 s' }) });
  const installed = await world.install('it');
  assert.deepEqual(await path.attempt(it, world), {
    reason: `${installed} does not tell its version: no end after 10 s`,
  });
});

test('a program is also looked for under its catalogue name', async (context) => {
  const world = await testWorld(context, { run: () => ({ stdout: '3.6.0' }) });
  const installed = await world.install('it-3.6');
  const outcome = await path.attempt({ ...it, name: 'it-3.6' }, world);
  assert.deepEqual(outcome, { path: installed, version: 'v3.6.0', from: 'PATH' });
});
