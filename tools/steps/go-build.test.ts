import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { cachedPath } from '../cache.ts';
import type { Program } from '../catalogue.ts';
import { it, testWorld } from '../testing.ts';
import type { Call } from '../testing.ts';
import { goBuild } from './go-build.ts';

/** A go command that writes the requested output. */
async function go({ args }: Call) {
  if (args.includes('env')) return { stdout: 'go1.26.8\n' };
  if (args.includes('list')) return { stdout: '2026-01-02T03:04:05Z\n' };
  if (args.includes('-o')) await writeFile(args[args.indexOf('-o') + 1]!, 'built');
  return { stdout: 'it 3.6.1' };
}

test('the pinned version is built for this machine, read-only, and lands in the cache', async (context) => {
  const world = await testWorld(context, { run: go });
  await world.install('go');
  const path = cachedPath(it, 'v3.6.1', world);
  assert.deepEqual(await goBuild.attempt(it, world), { path, version: 'v3.6.1', from: 'built with go1.26.8' });
  const { args, options } = world.calls.find((call) => call.args.includes('build'))!;
  assert.ok(args.includes('-mod=readonly') && args.includes('-trimpath') && args.includes('-ldflags=-s -w'));
  assert.equal(args.at(-1), 'example.org/it/cmd');
  assert.equal(options.cwd, join(world.setsFolder, 'it'));
  assert.equal(options.env?.['CGO_ENABLED'], '0');
  assert.equal(options.env?.['GOARCH'], 'amd64');
});

test("upstream's stamp is given to the linker", async (context) => {
  const world = await testWorld(context, { run: go });
  await world.install('go');
  const set = {
    ...it.go!.set,
    stamp: ({ version, time }: { version: string; time: string }) => ({ v: version, t: time }),
  };
  const stamped: Program = { ...it, go: { ...it.go!, set } };
  await goBuild.attempt(stamped, world);
  const { args } = world.calls.find((call) => call.args.includes('build'))!;
  assert.ok(args.includes('-ldflags=-s -w -X v=v3.6.1 -X t=2026-01-02T03:04:05Z'));
});

test('the build tags of a set are given to the compiler', async (context) => {
  const world = await testWorld(context, { run: go });
  await world.install('go');
  const tagged: Program = { ...it, go: { ...it.go!, set: { ...it.go!.set, tags: ['a', 'b'] } } };
  await goBuild.attempt(tagged, world);
  assert.ok(world.calls.find((call) => call.args.includes('build'))!.args.includes('-tags=a,b'));
});

test('a program that is compiled tests is built as such', async (context) => {
  const world = await testWorld(context, { run: go });
  await world.install('go');
  const tests: Program = { ...it, go: { ...it.go!, isTest: true } };
  await goBuild.attempt(tests, world);
  const { args } = world.calls.find((call) => call.args.includes('-o'))!;
  assert.deepEqual(args.slice(0, 2), ['test', '-c']);
  assert.equal(args.at(-1), 'example.org/it/cmd');
});

test('a build yields to other work when nice is there', async (context) => {
  const world = await testWorld(context, { run: go });
  const [goPath, nicePath] = [await world.install('go'), await world.install('nice')];
  await goBuild.attempt(it, world);
  const { command, args } = world.calls.find((call) => call.args.includes('build'))!;
  assert.deepEqual([command, ...args.slice(0, 4)], [nicePath, '-n', '10', goPath, 'build']);
});

test('the reason of a failed build is what the compiler said, without the list of packages', async (context) => {
  const world = await testWorld(context, {
    run(call) {
      if (!call.args.includes('build')) return go(call);
      for (const line of ['go: downloading a.org/x v1.0.0', 'a.org/x', 'x.go:1: undefined: y']) {
        call.options.onErrorLine?.(line);
      }
      return { failure: 'exit code 1' };
    },
  });
  await world.install('go');
  assert.deepEqual(await goBuild.attempt(it, world), { reason: 'exit code 1; x.go:1: undefined: y' });
});

test('without go nothing is tried', async (context) => {
  const world = await testWorld(context);
  assert.deepEqual(await goBuild.attempt(it, world), { reason: 'no go on PATH' });
});
