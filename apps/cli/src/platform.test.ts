import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { makePlane } from './testing/plain-operator.ts';
import { openTestWorld } from './testing/test-session.ts';
import type { TestWorld } from './testing/test-session.ts';

const kubeconfig = (...servers: readonly string[]): string =>
  [
    'apiVersion: v1',
    'kind: Config',
    `clusters: [${servers.map((name) => `{name: ${name}, cluster: {server: 'https://${name}'}}`).join(', ')}]`,
    'users: [{name: me, user: {token: x}}]',
    `contexts: [${servers.map((name) => `{name: ${name}, context: {cluster: ${name}, user: me}}`).join(', ')}]`,
    `current-context: ${servers[0]}`,
    '',
  ].join('\n');

/** Returns the server that the command connects to, or its output. */
async function serverOf(world: TestWorld, ...words: readonly string[]): Promise<string> {
  let server = '';
  const connect = (config: { readonly server: string }): Promise<never> => {
    server = config.server;
    return Promise.reject(new Error('stop here'));
  };
  const { err } = await world.runIn({ connect }, 'get', ...words);
  return server === '' ? err : server;
}

describe('the Hangar that a command asks', () => {
  test('is that of the data directory, else that of KUBECONFIG and --context', async () => {
    await using world = await openTestWorld();
    const { folder, env } = world;
    await writeFile(join(folder, 'a'), kubeconfig('one.example', 'two.example'));
    await writeFile(join(folder, 'b'), kubeconfig('three.example'));
    env['KUBECONFIG'] = 'missing:a:b';
    assert.equal(await serverOf(world), 'https://127.0.0.1:6443', 'the data directory wins');
    assert.equal(await serverOf(world, '--kubeconfig', 'b'), 'https://three.example');
    await rm(join(folder, '.data'), { recursive: true });
    assert.equal(await serverOf(world), 'https://one.example');
    assert.equal(await serverOf(world, '--context', 'two.example'), 'https://two.example');
    assert.equal(await serverOf(world, '--context', 'three.example'), 'https://three.example');
    assert.match(await serverOf(world, '--data-dir', 'other'), /"other\/admin\.kubeconfig" does not exist/);
    env['KUBECONFIG'] = 'missing';
    assert.match(await serverOf(world), /"\.data\/admin\.kubeconfig" does not exist/);
  });

  test('is that of ~/.kube/config only when a context is named', async () => {
    await using world = await openTestWorld();
    await rm(join(world.folder, '.data'), { recursive: true });
    await mkdir(join(world.folder, 'home', '.kube'), { recursive: true });
    await writeFile(join(world.folder, 'home', '.kube', 'config'), kubeconfig('one.example', 'two.example'));
    assert.match(await serverOf(world), /does not exist/);
    assert.equal(await serverOf(world, '--context', 'two.example'), 'https://two.example');
  });
});

describe('commands in messages', () => {
  test('begin with the words that start the program, and name the same Hangar', async () => {
    await using world = await openTestWorld();
    const program = 'npx hangar';
    const { err } = await world.runIn({ program }, 'get', '--data-dir', '.data');
    assert.equal(err, 'there is no control plane yet: npx hangar create NAME --data-dir .data\n');
    await makePlane(world.client, 'demo');
    const { out } = await world.runIn({ program }, 'delete', 'demo', '--kubeconfig=.data/admin.kubeconfig');
    assert.match(out, /to use it again: npx hangar create demo --kubeconfig \.data\/admin\.kubeconfig\n$/);
    const elsewhere = await world.runIn({ program }, 'get', '--data-dir', "it's");
    assert.ok(elsewhere.err.includes("start Hangar with: npx hangar up --data-dir 'it'\\''s'\n"), elsewhere.err);
    assert.match((await world.runIn({ program }, 'gte')).err, /did you mean get\?\n +all commands: npx hangar help\n/);
  });
});
