import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { find } from './find.ts';
import { it, testWorld } from './testing.ts';
import type { Call } from './testing.ts';

async function go({ args }: Call) {
  if (args.includes('build')) await writeFile(args[args.indexOf('-o') + 1]!, 'built');
  return { stdout: 'it 3.6.1' };
}

test('what was built once comes from the cache afterwards', async (context) => {
  const world = await testWorld(context, { run: go });
  await world.install('go');
  assert.match((await find(it, world)).from, /^built/);
  assert.equal((await find(it, world)).from, 'cache');
});

test('two searches at once build once', async (context) => {
  const world = await testWorld(context, { run: go });
  await world.install('go');
  const [first, second] = await Promise.all([find(it, world), find(it, world)]);
  assert.equal(first.path, second.path);
  assert.equal(world.calls.filter(({ args }) => args.includes('build')).length, 1);
});

test('a program that cannot be had lists each step and its reason', async (context) => {
  const world = await testWorld(context);
  await assert.rejects(find(it, world), (error: Error & { code?: string }) => {
    assert.equal(error.code, 'ToolUnavailable');
    const [title, ...steps] = error.message.split('\n');
    assert.equal(title, 'it is not available');
    assert.deepEqual(
      steps.map((step) => step.trim().split(':')[0]),
      ['environment', 'PATH', 'cache', 'go build', 'Debian package', 'npm package', 'download'],
    );
    return true;
  });
});

test('a wrong variable ends the search before anything is made', async (context) => {
  const world = await testWorld(context, { run: go });
  await world.install('go');
  world.env['HANGAR_TOOL_IT'] = '/no/such/file';
  await assert.rejects(find(it, world), { code: 'ToolUnavailable', message: /HANGAR_TOOL_IT/ });
  assert.deepEqual(world.calls, []);
});

test('a cache folder that cannot be made is a reason like any other', async (context) => {
  const world = await testWorld(context);
  const file = await world.install('a-file');
  await assert.rejects(find(it, { ...world, cacheFolder: `${file}/cache` }), {
    code: 'ToolUnavailable',
    message: /cache folder: .*ENOTDIR/,
  });
});
