import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseYaml } from '@hangar/api';
import { Namespace, Secret } from '@hangar/client/kinds/core-v1';
import { Role, RoleBinding } from '@hangar/client/kinds/rbac-v1';
import { systemClock, systemRandom } from '@hangar/core';
import { encryptionOf } from '@hangar/server';
import { serviceAccount, startTestCluster } from '@hangar/testkit';
import { run } from '../../../../tools/run.ts';
import { readAuthorities } from '../compose/credentials.ts';
import { readTokens } from '../compose/tokens.ts';
import { createPkiSecret } from './secret.ts';
import { initPki, newPki } from './shared-pki.ts';

const world = { clock: systemClock, random: systemRandom };
const names = [
  'ca.crt',
  'ca.key',
  'encryption.yaml',
  'front-proxy-ca.crt',
  'front-proxy-ca.key',
  'metrics-token',
  'sa.key',
  'sa.pub',
  'tokens.csv',
];

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-shared-'));
  try {
    await body(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const contentsOf = async (folder: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    await Promise.all((await readdir(folder)).map(async (name) => [name, await readFile(join(folder, name), 'utf8')])),
  );

test('a folder gets what it lacks, keeps what it has, and is for its owner alone', () =>
  inFolder(async (folder) => {
    assert.deepEqual([...(await initPki(folder, world))].sort(), names);
    const made = await contentsOf(folder);
    assert.deepEqual(Object.keys(made).sort(), names);
    for (const name of names) assert.equal((await stat(join(folder, name))).mode & 0o077, 0, name);
    assert.deepEqual(await initPki(folder, world), []);
    await rm(join(folder, 'encryption.yaml'));
    assert.deepEqual(await initPki(folder, world), ['encryption.yaml']);
    const { 'encryption.yaml': newKey, ...others } = await contentsOf(folder);
    const { 'encryption.yaml': oldKey, ...before } = made;
    assert.deepEqual(others, before);
    assert.notEqual(newKey, oldKey);
  }));

test('half a pair is neither completed nor replaced, and nothing else is made', () =>
  inFolder(async (folder) => {
    await initPki(folder, world);
    await rm(join(folder, 'ca.key'));
    await rm(join(folder, 'encryption.yaml'));
    const before = await contentsOf(folder);
    await assert.rejects(initPki(folder, world), /has ca\.crt but not ca\.key: restore the missing files/);
    assert.deepEqual(await contentsOf(folder), before);
  }));

test('what is made is what the flags of the server take', () =>
  inFolder(async (folder) => {
    await initPki(folder, world);
    const { authority, frontProxyAuthority } = await readAuthorities(folder);
    const [ca, proxies] = [authority, frontProxyAuthority].map(({ certificate }) => new X509Certificate(certificate));
    assert.ok(ca!.ca && proxies!.ca);
    assert.notEqual(ca!.fingerprint256, proxies!.fingerprint256);
    const files = await contentsOf(folder);
    const [user] = readTokens(files['tokens.csv']!);
    assert.equal(user!.token, files['metrics-token']);
    assert.deepEqual([user!.user, user!.groups], ['hangar-metrics', ['system:monitoring']]);
    assert.ok(user!.token.length >= 40);
    assert.doesNotThrow(() => encryptionOf(files['encryption.yaml']!, '/registry', systemRandom));
  }));

test('a Secret is made once, by somebody who may create Secrets and read none', async () => {
  await using cluster = await startTestCluster({ authorization: 'rbac' });
  const [namespace, name] = ['hangar-system', 'hangar-pki'];
  await cluster.client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const job = serviceAccount(namespace, 'job');
  await assert.rejects(createPkiSecret(cluster.clientOf(job), { namespace, name }, newPki(world)), {
    code: 'Forbidden',
  });
  const rbac = 'rbac.authorization.k8s.io';
  await cluster.client.create(Role, {
    apiVersion: `${rbac}/v1`,
    kind: 'Role',
    metadata: { namespace, name: 'job' },
    rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['create'] }],
  });
  await cluster.client.create(RoleBinding, {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { namespace, name: 'job' },
    roleRef: { apiGroup: rbac, kind: 'Role', name: 'job' },
    subjects: [{ kind: 'ServiceAccount', namespace, name: 'job' }],
  });
  const client = cluster.clientOf(job);
  const made = newPki(world);
  assert.equal(await createPkiSecret(client, { namespace, name }, made), true);
  assert.equal(await createPkiSecret(client, { namespace, name }, newPki(world)), false);
  await assert.rejects(client.get(Secret, { namespace, name }), { code: 'Forbidden' });
  const { data } = await cluster.client.get(Secret, { namespace, name });
  assert.deepEqual(Object.keys(data!).sort(), names);
  assert.equal(Buffer.from(data!['ca.crt']!, 'base64').toString(), made['ca.crt']);
});

const program = new URL('../../../../bin/hangar.js', import.meta.url).pathname;
const hangar = (...args: readonly string[]) => run(process.execPath, [program, ...args], { timeoutMs: 30_000 });

test('the command makes the folder, prints kubeconfigs of its CA, and says what is wrong with a command line', () =>
  inFolder(async (folder) => {
    const made = await hangar('pki', 'init', join(folder, 'pki'));
    assert.equal(made.failure, undefined, made.stderr);
    assert.match(made.stdout, /^created in .*ca\.crt/);
    const shared = [`--pki-dir=${folder}/pki`, '--server=https://hangar.example.com'];
    const admin = await hangar('pki', 'kubeconfig', ...shared);
    assert.match(subjectOf(admin.stdout), /O=system:masters\nCN=kubernetes-admin/);
    const operator = await hangar('pki', 'kubeconfig', ...shared, '--user=hangar-operator', '--days=30');
    assert.equal(subjectOf(operator.stdout), 'CN=hangar-operator');
    for (const [args, problem] of [
      [['pki', 'nonsense'], /unknown command ".*" for "hangar pki": use init, secret or kubeconfig/],
      [['pki', 'init'], /requires one directory/],
      [['pki', 'kubeconfig', ...shared, '--days=0'], /--days/],
      [['pki', 'kubeconfig', '--pki-dir=/nowhere', '--server=https://a'], /\/nowhere\/ca\.crt is missing/],
      [['pki', 'kubeconfig', `--pki-dir=${folder}/pki`, '--server=http://a'], /is not https/],
      [['pki', 'secret', '--nonsense'], /nonsense/],
    ] as const) {
      const { failure, stderr, stdout } = await hangar(...args);
      assert.equal(failure, 'exit code 2', args.join(' '));
      assert.match(stderr, problem);
      assert.doesNotMatch(stderr, /\n {4}at /);
      assert.equal(stdout, '');
    }
  }));

interface Config {
  readonly users: readonly { readonly user: { readonly 'client-certificate-data': string } }[];
}

function subjectOf(kubeconfig: string): string {
  const { users } = parseYaml(kubeconfig).value as unknown as Config;
  return new X509Certificate(Buffer.from(users[0]!.user['client-certificate-data'], 'base64')).subject;
}
