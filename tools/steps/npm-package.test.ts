import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { cachedPath } from '../cache.ts';
import type { Program } from '../catalogue.ts';
import { testWorld } from '../testing.ts';
import type { Call } from '../testing.ts';
import { npmPackage } from './npm-package.ts';

const it: Program = {
  name: 'it',
  executable: 'it',
  versionArguments: ['--version'],
  accepted: { from: '3.6' },
  npm: { name: ({ os, arch }) => `it-${os}-${arch}`, version: '3.6.1', file: 'bin/it' },
};

async function npmAndTar({ command, options }: Call): Promise<{ stdout: string } | undefined> {
  if (command === 'npm') await writeFile(join(options.cwd!, 'it-3.6.1.tgz'), '');
  if (command === 'tar') {
    const file = join(options.cwd!, 'package/bin/it');
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, 'a program');
  }
  return { stdout: 'it 3.6.1' };
}

test('the program of the package lands in the cache', async (context) => {
  const world = await testWorld(context, { run: npmAndTar });
  const path = cachedPath(it, 'v3.6.1', world);
  const from = 'npm (it-linux-amd64@3.6.1)';
  assert.deepEqual(await npmPackage.attempt(it, world), { path, version: 'v3.6.1', from });
  assert.equal(await readFile(path, 'utf8'), 'a program');
  assert.deepEqual(world.calls[0]!.args, ['pack', '--silent', 'it-linux-amd64@3.6.1']);
});

test('a registry that does not answer is a reason', async (context) => {
  const world = await testWorld(context, { run: () => ({ failure: 'exit code 1', stderr: 'ENOTFOUND\n' }) });
  assert.deepEqual(await npmPackage.attempt(it, world), {
    reason: 'npm pack it-linux-amd64@3.6.1: exit code 1; ENOTFOUND',
  });
});

test('a program without a package is not searched', async (context) => {
  const world = await testWorld(context);
  const { npm: _, ...other } = it;
  assert.deepEqual(await npmPackage.attempt(other, world), { reason: 'the npm registry does not have it' });
  assert.deepEqual(world.calls, []);
});
