import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { cachedPath } from '../cache.ts';
import type { Program } from '../catalogue.ts';
import { it, testWorld, writeExecutable } from '../testing.ts';
import type { Call } from '../testing.ts';
import { debian } from './debian.ts';

/** A Debian that has it-server in the given version, once the lists were updated if they have to be. */
function archive(candidate: string, listsAreThere = true) {
  let known = listsAreThere;
  return {
    async run({ command, args, options }: Call) {
      if (command === 'apt-cache') return { stdout: known ? `it-server:\n  Candidate: ${candidate}\n` : '' };
      if (args.includes('update')) known = true;
      if (args.includes('download')) await writeExecutable(join(options.cwd!, 'it-server.deb'));
      if (command === 'dpkg-deb') await writeExecutable(join(options.cwd!, 'root/usr/bin/it'));
      return { stdout: 'it 3.5.16' };
    },
  };
}

test('an acceptable version is unpacked into the cache under its own version', async (context) => {
  const world = await testWorld(context, archive('3.5.16-4'));
  await world.install('apt-get');
  assert.deepEqual(await debian.attempt(it, world), {
    path: cachedPath(it, 'v3.5.16', world),
    version: 'v3.5.16',
    from: 'Debian (it-server 3.5.16-4)',
  });
  assert.ok(!world.calls.some(({ args }) => args.includes('update')));
});

test('what was unpacked once is not fetched again', async (context) => {
  const world = await testWorld(context, archive('3.5.16-4'));
  await world.install('apt-get');
  await debian.attempt(it, world);
  await debian.attempt(it, world);
  assert.equal(world.calls.filter(({ args }) => args.includes('download')).length, 1);
});

test('a program with libraries is a script that runs it with the libraries of the unpacked packages', async (context) => {
  const world = await testWorld(context, {
    async run({ command, args, options }) {
      if (command === 'apt-cache') return { stdout: 'it-server:\n  Candidate: 3.5.16-4\n' };
      const names = args.slice(args.indexOf('download') + 1);
      if (args.includes('download')) for (const name of names) await writeExecutable(join(options.cwd!, `${name}.deb`));
      if (args.includes('libit.deb'))
        await writeExecutable(join(options.cwd!, 'root/usr/lib/x86_64-linux-gnu/libit.so'));
      if (args.includes('it-server.deb')) await writeExecutable(join(options.cwd!, 'root/usr/bin/it'));
      return { stdout: 'it 3.5.16' };
    },
  });
  await world.install('apt-get');
  const program: Program = { ...it, debian: { ...it.debian!, libraries: ['libit'] } };
  const outcome = await debian.attempt(program, world);
  assert.ok('path' in outcome, JSON.stringify(outcome));
  const script = await readFile(outcome.path, 'utf8');
  assert.match(
    script,
    /LD_LIBRARY_PATH="\$here\/root\/usr\/lib\/x86_64-linux-gnu" exec "\$here\/root\/usr\/bin\/it" "\$@"/,
  );
  assert.equal(await readFile(join(dirname(outcome.path), 'root/usr/bin/it'), 'utf8'), 'a program');
});

test('missing package lists are fetched first', async (context) => {
  const world = await testWorld(context, archive('3.5.16-4', false));
  await world.install('apt-get');
  assert.ok('path' in (await debian.attempt(it, world)));
  assert.ok(world.calls.some(({ args }) => args.includes('update')));
});

test('an old version is refused without fetching it', async (context) => {
  const world = await testWorld(context, archive('3.4.23-4+b4'));
  await world.install('apt-get');
  assert.deepEqual(await debian.attempt(it, world), { reason: 'it-server is v3.4.23, older than 3.5' });
  assert.ok(!world.calls.some(({ args }) => args.includes('download')));
});

test('without root it says what a person can do', async (context) => {
  const world = await testWorld(context, archive('3.5.16-4'));
  await world.install('apt-get');
  const outcome = await debian.attempt(it, { ...world, isRoot: false });
  assert.deepEqual(outcome, { reason: 'needs root; a person can: apt-get install it-server' });
});
