import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseYaml } from '@hangar/api/yaml';
import { UsageError } from '@hangar/core/command-line';
import { kubeconfig } from '@hangar/pki';
import { writeKubeconfigFile } from './kubeconfig-file.ts';

const own = (token: string): string =>
  kubeconfig({
    name: 'hangar',
    user: 'admin',
    server: 'https://127.0.0.1:6443',
    authority: 'ca',
    credentials: { token },
  });

async function inFile(work: (path: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-kubeconfig-file-'));
  try {
    await work(join(folder, 'admin.kubeconfig'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('entries, current context and preferences of the user survive a new start, and those of Hangar are replaced', async () => {
  await inFile(async (path) => {
    await writeKubeconfigFile(path, own('one'));
    assert.equal(await readFile(path, 'utf8'), own('one'));
    const config = parseYaml(own('one')).value as Record<string, unknown[]>;
    config['users']!.push({ name: 'robot', user: { token: 'x' } });
    config['clusters']!.push({ name: 'far', cluster: { server: 'https://far' } });
    config['contexts']!.push({ name: 'far', context: { cluster: 'far', user: 'robot', namespace: 'shop' } });
    await writeFile(path, JSON.stringify({ ...config, preferences: { colors: true }, 'current-context': 'far' }));
    await writeKubeconfigFile(path, own('two'));
    const after = parseYaml(await readFile(path, 'utf8')).value as Record<string, { name: string }[]>;
    assert.deepEqual(after['users'], [
      { name: 'admin', user: { token: 'two' } },
      { name: 'robot', user: { token: 'x' } },
    ]);
    assert.deepEqual(
      after['contexts']!.map(({ name }) => name),
      ['hangar', 'far'],
    );
    assert.deepEqual(
      after['clusters']!.map(({ name }) => name),
      ['hangar', 'far'],
    );
    assert.deepEqual([after['preferences'], after['current-context']], [{ colors: true }, 'far']);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    const { mtimeMs } = await stat(path);
    await writeKubeconfigFile(path, own('two'));
    assert.equal((await stat(path)).mtimeMs, mtimeMs, 'an unchanged file is not written');
  });
});

test('a current context that does not exist is replaced', async () => {
  await inFile(async (path) => {
    await writeFile(path, 'apiVersion: v1\nkind: Config\ncurrent-context: gone\n');
    await writeKubeconfigFile(path, own('one'));
    assert.match(await readFile(path, 'utf8'), /^current-context: hangar$/m);
  });
});

test('a file that is not a kubeconfig is not overwritten', async () => {
  await inFile(async (path) => {
    for (const text of ['kind: Pod\napiVersion: v1\n', 'a: [', '- 1\n']) {
      await writeFile(path, text);
      await assert.rejects(writeKubeconfigFile(path, own('one')), UsageError);
      assert.equal(await readFile(path, 'utf8'), text);
    }
  });
});
