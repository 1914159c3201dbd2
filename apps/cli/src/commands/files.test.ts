import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parseYaml } from '@hangar/api/yaml';
import { defineKind } from '@hangar/client';
import type { ApiObject } from '@hangar/client';
import { adoptByAnnotation, ControlPlane, Secret, Tenant } from '../kinds.ts';
import { kubeconfigText, makePlane, makeReady, serverOf } from '../testing/plain-operator.ts';
import { KeptOutput, openTestWorld } from '../testing/test-session.ts';

const ConfigMap = defineKind<ApiObject>({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  isNamespaced: true,
});

describe('kubeconfig and use', () => {
  test('print, write and merge', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo');
    const printed = await world.run('kubeconfig', 'demo');
    assert.equal(printed.code, 0, printed.err);
    const config = parseYaml(printed.out).value as { clusters: { cluster: { server: string } }[] };
    assert.equal(config.clusters[0]!.cluster.server, serverOf('demo'));
    const external = JSON.parse((await world.run('kubeconfig', 'demo', '--external', '-o', 'json')).out);
    assert.equal(external.clusters[0].cluster.server, 'https://demo.example.com');
    assert.equal((await world.run('kubeconfig', 'demo', '-o', 'it')).code, 0);
    assert.equal(await readFile(join(world.folder, 'it'), 'utf8'), printed.out);
    const own = join(world.folder, 'home', '.kube', 'config');
    assert.equal((await world.run('kubeconfig', 'demo', '--merge')).out, `context hangar-demo is in ${own}\n`);
    assert.doesNotMatch(await readFile(own, 'utf8'), /current-context/);
    assert.equal((await world.run('use', 'demo')).out, `kubectl now uses context hangar-demo in ${own}\n`);
    assert.match(await readFile(own, 'utf8'), /^current-context: hangar-demo$/m);
    assert.equal((await world.run('kubeconfig', 'demo', '--merge', '-o', 'x')).code, 2);
  });

  test('do not overwrite a file that is not a kubeconfig', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo');
    const path = join(world.folder, 'notes.txt');
    for (const text of ['my notes\n', 'kind: Pod\napiVersion: v1\n', 'a: [']) {
      await writeFile(path, text);
      for (const words of [
        ['kubeconfig', 'demo', '-o', 'notes.txt'],
        ['create', 'other', '-o', 'notes.txt'],
      ]) {
        const { code, err } = await world.run(...words);
        assert.equal(code, 1);
        assert.match(err, /"notes\.txt" exists and is not a kubeconfig, so it was not overwritten/);
        assert.equal(await readFile(path, 'utf8'), text);
      }
    }
    await assert.rejects(world.client.get(ControlPlane, { name: 'other' }), { code: 'NotFound' });
    await writeFile(path, '');
    assert.equal((await world.run('kubeconfig', 'demo', '-o', 'notes.txt')).code, 0);
    assert.equal((await world.run('kubeconfig', 'demo', '-o', 'notes.txt')).code, 0, 'a kubeconfig is replaced');
  });

  test('go back to the previous context, and delete removes the context that use added', async () => {
    await using world = await openTestWorld();
    for (const name of ['demo', 'shop']) await makePlane(world.client, name);
    const own = join(world.folder, 'home', '.kube', 'config');
    const current = async () =>
      (parseYaml(await readFile(own, 'utf8')).value as Record<string, unknown>)['current-context'];
    assert.equal((await world.run('use', 'demo')).code, 0);
    assert.match((await world.run('use', '-')).err, /the kubeconfig has no previous context/);
    assert.equal((await world.run('use', 'shop')).code, 0);
    assert.equal((await world.run('use', '-')).out, `kubectl now uses context hangar-demo in ${own}\n`);
    assert.equal((await world.run('use', '-')).out, `kubectl now uses context hangar-shop in ${own}\n`);
    const { code, err } = await world.run('delete', 'shop');
    assert.equal(code, 0, err);
    assert.match(err, new RegExp(`context hangar-shop removed from ${own}\n`));
    assert.doesNotMatch(await readFile(own, 'utf8'), /name: hangar-shop/);
    assert.equal(await current(), 'hangar-demo', 'the previous context is current again');
    // A context of the same name that leads to another Hangar stays.
    const elsewhere = (await readFile(own, 'utf8')).replaceAll('127.0.0.1', '192.0.2.1');
    await writeFile(own, elsewhere);
    assert.equal((await world.run('delete', 'demo')).code, 0);
    assert.equal(await readFile(own, 'utf8'), elsewhere);
  });

  test('connect runs a command with KUBECONFIG, and returns its exit code', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo');
    const ran: { words: readonly string[]; config: string; path: string }[] = [];
    const runProgram = async (words: readonly string[], { KUBECONFIG: path }: NodeJS.ProcessEnv): Promise<number> => {
      ran.push({ words, config: await readFile(path!, 'utf8'), path: path! });
      return 7;
    };
    const connected = await world.runIn(
      { runProgram },
      'connect',
      'demo',
      '--',
      'kubectl',
      'get',
      'pods',
      '-o',
      'yaml',
    );
    assert.equal(connected.code, 7, connected.err);
    assert.deepEqual(ran[0]!.words, ['kubectl', 'get', 'pods', '-o', 'yaml']);
    assert.ok(ran[0]!.config.includes(serverOf('demo')));
    await assert.rejects(stat(ran[0]!.path), { code: 'ENOENT' });
    await world.runIn({ runProgram, env: { SHELL: '/bin/zsh' } }, 'connect', 'demo');
    assert.deepEqual(ran[1]!.words, ['/bin/zsh']);
    const missing = Object.assign(new Error('spawn nope ENOENT'), { code: 'ENOENT' });
    const { code, err } = await world.runIn({ runProgram: () => Promise.reject(missing) }, 'connect', 'demo', 'nope');
    assert.equal(code, 1);
    assert.match(err, /the command "nope" cannot be run: it is not in PATH/);
  });

  test('say why there is none', async () => {
    await using world = await openTestWorld();
    await world.client.create(ControlPlane, { metadata: { name: 'new' }, spec: {} });
    assert.match((await world.run('use', 'new')).err, /"new" has no kubeconfig yet: no operator has reconciled it/);
    await makePlane(world.client, 'demo');
    await world.client.delete(Secret, { namespace: 'kplane-cp-demo', name: 'controlplane-demo-kubeconfig' });
    assert.match((await world.run('use', 'demo')).err, /Secret kplane-cp-demo\/.* does not exist/);
  });

  test('take nothing from the server that would run a program here', async () => {
    await using world = await openTestWorld();
    await world.client.create(ControlPlane, { metadata: { name: 'evil' }, spec: {} });
    const kubeconfig = kubeconfigText(serverOf('evil'), 'exec: {apiVersion: x, command: sh}');
    await makeReady(world.client, 'evil', { kubeconfig });
    for (const words of [
      ['use', 'evil'],
      ['kubeconfig', 'evil'],
      ['kubeconfig', 'evil', '-o', 'file'],
    ]) {
      const { code, out, err } = await world.run(...words);
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, /has the field "exec", which is not allowed in a kubeconfig from a server/);
    }
    assert.deepEqual((await readdir(world.folder)).sort(), ['.data']);
  });
});

describe('backup and restore', () => {
  test('replace the data of a control plane in place, after a confirmation', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo');
    const inside = world.fleet.clientOf('demo');
    const a = { metadata: { name: 'a', namespace: 'default' } };
    await inside.create(ConfigMap, a);
    assert.equal((await world.run('backup', 'demo', '-o', 'demo.backup')).code, 0);
    await inside.delete(ConfigMap, { namespace: 'default', name: 'a' });
    await inside.create(ConfigMap, { metadata: { name: 'b', namespace: 'default' } });
    const restore = (...words: string[]) => world.run('restore', 'demo', '-f', 'demo.backup', ...words);
    const unconfirmed = await restore('--in-place', '--confirm', 'other');
    assert.equal(unconfirmed.code, 2);
    assert.match(unconfirmed.err, /replaces all data of control plane "demo": to confirm, add --confirm demo/);
    assert.equal((await restore('--confirm', 'demo')).code, 2);
    assert.equal((await restore('--in-place', '--confirm', 'demo', '--class', 'small')).code, 2);
    const restored = await restore('--in-place', '--confirm', 'demo');
    assert.equal(restored.code, 0, restored.err);
    assert.equal(restored.out, 'control plane demo restored in place\n');
    const { items } = await inside.list(ConfigMap, { namespace: 'default' });
    const names = items.map(({ metadata }) => metadata.name);
    assert.ok(names.includes('a') && !names.includes('b'), names.join());
    const missing = await world.run('restore', 'no', '-f', 'demo.backup', '--in-place', '--confirm', 'no');
    assert.match(missing.err, /"no"/);
    assert.equal(missing.code, 1);
  });

  test('bring a control plane back under another name, for the operator to adopt', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo');
    await world.fleet.clientOf('demo').create(ConfigMap, { metadata: { namespace: 'default', name: 'kept' } });
    const taken = await world.run('backup', 'demo', '-o', 'demo.backup');
    assert.equal(taken.code, 0, taken.err);
    assert.match(taken.err, /^control plane demo written to demo\.backup \(.*B\)\n$/);
    assert.equal((await stat(join(world.folder, 'demo.backup'))).mode & 0o777, 0o600);
    const restored = await world.run('restore', 'copy', '-f', 'demo.backup', '--no-wait', '--class', 'small');
    assert.equal(restored.code, 0, restored.err);
    assert.equal(restored.out, 'control plane copy restored\n');
    assert.equal((await world.client.get(ControlPlane, { name: 'copy' })).spec?.classRef?.name, 'small');
    const { metadata } = await world.client.get(Tenant, { name: 'copy' });
    assert.equal(metadata.annotations?.[adoptByAnnotation], 'copy');
    const key = { namespace: 'default', name: 'kept' };
    assert.equal((await world.fleet.clientOf('copy').get(ConfigMap, key)).metadata.name, 'kept');
    const again = await world.run('restore', 'copy', '-f', 'demo.backup', '--no-wait');
    assert.match(again.err, /control plane "copy" already exists/);
  });

  test('refuse what is there, and what is no backup, and leave nothing', async () => {
    await using world = await openTestWorld();
    await world.fleet.createCluster('foreign');
    await makePlane(world.client, 'demo');
    await world.run('backup', 'demo', '-o', 'demo.backup');
    const foreign = await world.run('restore', 'foreign', '-f', 'demo.backup', '--no-wait');
    assert.equal(foreign.code, 1);
    assert.match(foreign.err, /data exists at path "foreign"/);
    await writeFile(join(world.folder, 'nonsense'), 'nonsense');
    const nonsense = await world.run('restore', 'other', '-f', 'nonsense', '--no-wait');
    assert.equal(nonsense.code, 1);
    assert.match(nonsense.err, /the backup cannot be restored/);
    assert.match((await world.run('restore', 'other', '-f', 'absent')).err, /"absent" cannot be read: ENOENT/);
    assert.equal((await world.run('restore', 'other')).code, 2);
    assert.equal((await world.client.list(ControlPlane)).items.length, 1);
  });

  test('keep the old file when the server cannot give a new one', async () => {
    await using world = await openTestWorld();
    await world.client.create(ControlPlane, { metadata: { name: 'bare' }, spec: {} });
    await writeFile(join(world.folder, 'old.backup'), 'old');
    const { code, err } = await world.run('backup', 'bare', '-o', 'old.backup');
    assert.equal(code, 1);
    assert.match(err, /has no tenant/);
    assert.equal(await readFile(join(world.folder, 'old.backup'), 'utf8'), 'old');
    const out = new KeptOutput();
    out.terminal = { columns: 80, rows: 24 };
    assert.equal((await world.runIn({ out }, 'backup', 'bare', '-o', '-')).code, 2, 'bytes do not go to a terminal');
    assert.equal((await world.run('backup', 'bare')).code, 2);
  });

  test('write the same to standard output', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo');
    const out = new KeptOutput();
    assert.equal((await world.runIn({ out }, 'backup', 'demo', '-o', '-')).code, 0);
    await writeFile(join(world.folder, 'piped'), Buffer.concat(out.bytes));
    assert.equal((await world.run('restore', 'copy', '-f', 'piped', '--no-wait')).code, 0);
  });
});

describe('encrypted backups', () => {
  const key = Buffer.alloc(32, 7).toString('base64');

  test('are restored with their key only', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo');
    const content = { metadata: { namespace: 'default', name: 'kept' }, data: { text: 'a visible text' } };
    await world.fleet.clientOf('demo').create(ConfigMap, content);
    await writeFile(join(world.folder, 'key'), `${key}\n`);
    await writeFile(join(world.folder, 'other'), Buffer.alloc(32, 8).toString('hex'));
    const taken = await world.run('backup', 'demo', '-o', 'demo.backup', '--key-file', 'key');
    assert.equal(taken.code, 0, taken.err);
    const bytes = await readFile(join(world.folder, 'demo.backup'));
    assert.match(bytes.toString('latin1'), /^HANGAR-BACKUP-1\n/);
    assert.ok(!bytes.includes('a visible text'));
    const restore = (...words: string[]) => world.run('restore', 'copy', '-f', 'demo.backup', '--no-wait', ...words);
    assert.match((await restore()).err, /is encrypted with key [0-9a-f]{16}, and no key is given\n.*--key-file FILE/);
    assert.match((await restore('--key-file', 'other')).err, /and the given key is [0-9a-f]{16}\n/);
    await writeFile(join(world.folder, 'cut'), bytes.subarray(0, -1));
    const cut = await world.run('restore', 'copy', '-f', 'cut', '--no-wait', '--key-file', 'key');
    assert.match(cut.err, /"cut": the backup is truncated/);
    assert.equal((await world.client.list(ControlPlane)).items.length, 1, 'nothing was restored');
    const restored = await restore('--key-file', 'key');
    assert.equal(restored.code, 0, restored.err);
    const found = await world.fleet.clientOf('copy').get(ConfigMap, { namespace: 'default', name: 'kept' });
    assert.deepEqual((found as ApiObject & { data: unknown }).data, { text: 'a visible text' });
  });

  test('are not replaced by one without encryption, and keys are checked first', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo');
    await writeFile(join(world.folder, 'key'), key);
    await writeFile(join(world.folder, 'short'), 'c2hvcnQ=');
    await world.run('backup', 'demo', '-o', 'plain.backup');
    const plain = await world.run('restore', 'copy', '-f', 'plain.backup', '--no-wait', '--key-file', 'key');
    assert.match(plain.err, /"plain\.backup" is not encrypted, but a key is given/);
    const short = await world.run('backup', 'demo', '-o', 'x', '--key-file', 'short');
    assert.equal(short.code, 2);
    assert.match(short.err, /key file "short": a backup key is 32 bytes .*, but it has 5 bytes/);
    assert.match((await world.run('backup', 'demo', '-o', 'x', '--key-file', 'absent')).err, /"absent" cannot be read/);
    await assert.rejects(stat(join(world.folder, 'x')), { code: 'ENOENT' });
  });

  test('in S3 need credentials and a whole address', async () => {
    await using world = await openTestWorld();
    const none = await world.run('backup', 'demo', '-o', 's3://bucket/demo');
    assert.equal(none.code, 1);
    assert.match(none.err, /no credentials for S3\n.*set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/);
    const env = { ...world.env, AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };
    for (const address of ['s3://bucket', 's3://bucket/x/', 's3://b/x', 's3://bucket/../x']) {
      const { code, err } = await world.runIn({ env }, 'restore', 'copy', '-f', address);
      assert.equal(code, 2, err);
    }
    const endpoint = ['--s3-endpoint', 'example.com'];
    const { code, err } = await world.runIn({ env }, 'restore', 'copy', '-f', 's3://bucket/x', ...endpoint);
    assert.equal(code, 2);
    assert.match(err, /must have the form https:\/\/HOST/);
  });
});

describe('version', () => {
  test('is of both, and no error without a server', async () => {
    await using world = await openTestWorld({ isBare: true });
    assert.match(
      (await world.run('version')).out,
      /^Client: hangar \d+\.\d+\.\d+ \(Node v\d.*\)\nServer: Kubernetes v1\..*\n$/,
    );
    assert.match((await world.run('--version', '--client')).out, /^Client: [^\n]*\n$/);
    assert.equal(JSON.parse((await world.run('version', '-o', 'json')).out).server.major, '1');
    const absent = await world.run('version', '--data-dir', 'elsewhere');
    assert.equal(absent.code, 0);
    assert.match(absent.out, /Server: none \(the kubeconfig .* does not exist/);
  });
});
