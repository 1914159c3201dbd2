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

  test('say why there is none', async () => {
    await using world = await openTestWorld();
    await world.client.create(ControlPlane, { metadata: { name: 'new' }, spec: {} });
    assert.match((await world.run('use', 'new')).err, /"new" has no kubeconfig yet: no operator has looked at it/);
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
      assert.match(err, /has "exec", which a kubeconfig from a server must not have/);
    }
    assert.deepEqual((await readdir(world.folder)).sort(), ['.data']);
  });
});

describe('backup and restore', () => {
  test('bring a control plane back under another name, for the operator to adopt', async () => {
    await using world = await openTestWorld();
    await makePlane(world.client, 'demo');
    await world.fleet.clientOf('demo').create(ConfigMap, { metadata: { namespace: 'default', name: 'kept' } });
    const taken = await world.run('backup', 'demo', '-o', 'demo.backup');
    assert.equal(taken.code, 0, taken.err);
    assert.match(taken.err, /^control plane demo is in demo\.backup \(.*B\)\n$/);
    assert.equal((await stat(join(world.folder, 'demo.backup'))).mode & 0o777, 0o600);
    const restored = await world.run('restore', 'copy', '-f', 'demo.backup', '--no-wait', '--class', 'small');
    assert.equal(restored.code, 0, restored.err);
    assert.equal(restored.out, 'control plane copy is restored\n');
    assert.equal((await world.client.get(ControlPlane, { name: 'copy' })).spec?.classRef?.name, 'small');
    const { metadata } = await world.client.get(Tenant, { name: 'copy' });
    assert.equal(metadata.annotations?.[adoptByAnnotation], 'copy');
    const key = { namespace: 'default', name: 'kept' };
    assert.equal((await world.fleet.clientOf('copy').get(ConfigMap, key)).metadata.name, 'kept');
    const again = await world.run('restore', 'copy', '-f', 'demo.backup', '--no-wait');
    assert.match(again.err, /there is a control plane "copy" already/);
  });

  test('refuse what is there, and what is no backup, and leave nothing', async () => {
    await using world = await openTestWorld();
    await world.fleet.createCluster('foreign');
    await makePlane(world.client, 'demo');
    await world.run('backup', 'demo', '-o', 'demo.backup');
    const foreign = await world.run('restore', 'foreign', '-f', 'demo.backup', '--no-wait');
    assert.equal(foreign.code, 1);
    assert.match(foreign.err, /there is data under the name "foreign" already/);
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
    assert.match(absent.out, /Server: none \(there is no kubeconfig/);
  });
});
