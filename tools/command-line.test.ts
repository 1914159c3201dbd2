import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { cachedPath } from './cache.ts';
import { catalogue, toolNames } from './catalogue.ts';
import { commandLine } from './command-line.ts';
import { pinnedVersion } from './pin.ts';
import { testWorld, writeExecutable } from './testing.ts';

const setsFolder = join(import.meta.dirname, 'sets');

async function start(
  context: TestContext,
  args: readonly string[],
  cached: readonly (typeof toolNames)[number][] = [],
) {
  const world = { ...(await testWorld(context)), setsFolder };
  for (const name of cached) {
    await writeExecutable(cachedPath(catalogue[name], (await pinnedVersion(catalogue[name], setsFolder))!, world));
  }
  const results: string[] = [];
  const problems: string[] = [];
  const exitCode = await commandLine(args, world, {
    result: (line) => results.push(line),
    problem: (line) => problems.push(line),
  });
  return { exitCode, results: results.join('\n'), problems: problems.join('\n') };
}

test('a program that is there is one line: name, version, where from, path', async (context) => {
  const { exitCode, results } = await start(context, ['etcd'], ['etcd']);
  assert.equal(exitCode, 0);
  assert.match(results, /^etcd +v3\.\d+\.\d+ +cache +\/.*\/etcd$/);
});

test('a program that cannot be had is explained, the others are still got, and the exit code is 1', async (context) => {
  const { exitCode, results, problems } = await start(context, ['kubectl', 'etcd'], ['etcd']);
  assert.equal(exitCode, 1);
  assert.match(results, /^etcd /);
  assert.match(problems, /^kubectl is not available\n {2}environment: /);
});

test('without names every program is listed with its pin and whether it is there', async (context) => {
  const { exitCode, results } = await start(context, [], ['etcd']);
  assert.equal(exitCode, 0);
  for (const name of toolNames) assert.match(results, new RegExp(`^${name} `, 'm'));
  assert.match(results, /^etcd .* cache /m);
  assert.match(results, /^kube-apiserver +v1\.36\.\d+ +not yet$/m);
});

test('help is a result', async (context) => {
  const { exitCode, results } = await start(context, ['--help']);
  assert.equal(exitCode, 0);
  assert.match(results, /HANGAR_TOOLS_CACHE/);
});

test('an unknown program or option is refused with the names that exist', async (context) => {
  for (const args of [['etdc'], ['--fast']]) {
    const { exitCode, problems } = await start(context, args);
    assert.equal(exitCode, 2);
    assert.match(problems, /Known programs: etcd, /);
  }
});
