import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { commands } from '../commands/index.ts';
import { makePlane } from '../testing/plain-operator.ts';
import { openTestWorld } from '../testing/test-session.ts';
import { offered } from './candidates.ts';

const names = ['demo', 'shop', '$(touch owned)', '`x`', "a'b"];
const world = {
  commands,
  controlPlanes: () => Promise.resolve(names),
  hostedControlPlanes: () => Promise.resolve(['hosted-one']),
};

const words = async (...typed: string[]): Promise<string[] | string> => {
  const all = await offered(world, typed);
  return typeof all === 'string' ? all : all.map(({ word }) => word);
};

describe('what is offered', () => {
  test('is commands first', async () => {
    assert.deepEqual(await words('de'), ['describe', 'delete']);
    assert.ok((await words('')).includes('up'));
    assert.ok(!(await words('')).includes('__complete'));
    assert.deepEqual(await words('help', 'kube'), ['kubeconfig']);
  });

  test('is control planes where one is meant, but none that a shell could run', async () => {
    assert.deepEqual(await words('use', ''), ['demo', 'shop']);
    assert.deepEqual(await words('use', 'd'), ['demo']);
    assert.deepEqual(await words('use', 'demo', ''), []);
    assert.deepEqual(await words('get', 'demo', 's'), ['shop']);
    assert.deepEqual(await words('delete', '--yes', '--timeout', '5s', ''), ['demo', 'shop']);
    assert.deepEqual(await words('create', ''), []);
  });

  test('is options, and their values', async () => {
    assert.deepEqual(await words('create', 'x', '--no-'), ['--no-wait']);
    assert.deepEqual(await words('create', 'x', '--deletion-policy', 'D'), ['Destroy']);
    assert.equal(await words('create', 'x', '-o', ''), 'file');
    assert.equal(await words('get', '--data-dir', ''), 'folder');
    assert.deepEqual(await words('get', '-o', ''), ['json', 'yaml', 'name', 'wide']);
    assert.deepEqual(await words('completion', ''), ['bash', 'zsh', 'fish']);
  });

  test('goes on behind a sign of equality, torn by the shell or not', async () => {
    assert.deepEqual(await words('get', '--output=j'), ['--output=json']);
    assert.deepEqual(await words('get', '--output', '=', 'j'), ['json']);
    assert.deepEqual(await words('get', '--output', '='), ['json', 'yaml', 'name', 'wide']);
    assert.deepEqual(await words('get', '--output', '=', 'json', 'd'), ['demo']);
    assert.deepEqual(await words('get', '--nonsense=x'), []);
  });

  test('is left to the shell for commands of the platform', async () => {
    assert.equal(await words('up', '--'), 'file');
  });
});

describe('__complete', () => {
  test('tells words and meanings, and asks the server that the line names', async () => {
    await using cluster = await openTestWorld();
    await makePlane(cluster.client, 'demo');
    assert.equal((await cluster.run('__complete', '--', 'use', '')).out, 'demo\n');
    assert.equal((await cluster.run('__complete', '--', 'use', '--data-dir', '.data', '')).out, 'demo\n');
    assert.equal((await cluster.run('__complete', '--', 'use', '--data-dir=elsewhere', '')).out, '');
    assert.match((await cluster.run('__complete', '--', 'top', '--on')).out, /^--once\t/);
    assert.equal((await cluster.run('__complete', '--', 'backup', 'x', '-o', '')).out, ':file\n');
  });

  test('says nothing when the server cannot be asked, and is no error', async () => {
    await using cluster = await openTestWorld({ isBare: true });
    assert.deepEqual(await cluster.run('__complete', '--', 'use', ''), { code: 0, out: '', err: '' });
    const connect = () => Promise.reject(new Error('no'));
    assert.deepEqual(await cluster.runIn({ connect }, '__complete', '--', 'use', ''), { code: 0, out: '', err: '' });
  });
});
