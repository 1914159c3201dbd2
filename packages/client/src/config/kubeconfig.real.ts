/** Compares with the real kubectl: both accept the same kubeconfigs, with the same result. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { delimiter } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { startTestCluster } from '@hangar/testkit';
import type { TestCluster } from '@hangar/testkit';
import { tool } from '../../../../tools/tool.ts';
import { connect } from '../connect.ts';
import type { ClientCertificate } from './cluster-config.ts';
import { defaultConfig } from './default-config.ts';
import { base64, kubeconfig, testFolder } from './testing/files.ts';
import type { TestFolder } from './testing/files.ts';

const run = promisify(execFile);

interface Told {
  readonly isTaken: boolean;
  readonly text: string;
}

async function byKubectl(env: Record<string, string>, ...words: string[]): Promise<Told> {
  const environment = { PATH: process.env['PATH'], HOME: '/nonexistent', ...env };
  try {
    const running = run(await tool('kubectl'), words, { env: environment, timeout: 60_000 });
    // Without credentials, kubectl reads a user name from its input until the input ends.
    running.child.stdin!.end();
    const { stdout } = await running;
    return { isTaken: true, text: stdout };
  } catch (error) {
    return { isTaken: false, text: (error as { stderr: string }).stderr };
  }
}

async function byClient(env: Record<string, string>): Promise<Told> {
  try {
    const client = connect(await defaultConfig({ env: { PATH: process.env['PATH'], ...env } }), { retry: false });
    try {
      const answer = await client.raw({ method: 'GET', target: '/version' });
      return { isTaken: answer.status === 200, text: (await answer.body()).toString() };
    } finally {
      await client.close();
    }
  } catch (error) {
    return { isTaken: false, text: (error as Error).message };
  }
}

describe('kubeconfigs as kubectl reads them', () => {
  let cluster: TestCluster;
  let pair: ClientCertificate;
  before(async () => {
    cluster = await startTestCluster({ listen: true });
    pair = (await cluster.config.credentials!.clientCertificate!())!;
  });
  after(() => cluster[Symbol.asyncDispose]());

  const here = () => ({ server: cluster.url, 'certificate-authority-data': base64(cluster.config.ca!) });
  const byData = () => ({
    'client-certificate-data': base64(pair.certificate),
    'client-key-data': base64(pair.key),
  });

  test('several files are merged alike', async (context) => {
    const folder = await testFolder(context);
    const paths = [
      `${folder.path}/absent`,
      await folder.write('a/one', {
        clusters: [{ name: 'c', cluster: { server: 'https://one', 'certificate-authority': 'ca.pem' } }],
        users: [{ name: 'u', user: { as: 'ada' } }],
      }),
      await folder.write('b/two', {
        ...kubeconfig({ cluster: { server: 'https://two', 'tls-server-name': 'two' }, user: { token: 'two' } }),
        'current-context': '',
      }),
      await folder.write('c/three', {
        clusters: [{ name: 'd', cluster: { server: 'https://three', 'proxy-url': 'http://p' } }],
        users: [{ name: 'v', user: { token: 'three' } }],
        contexts: [
          { name: 'x', context: { cluster: 'd', namespace: 'lost' } },
          { name: 'y', context: { cluster: 'd', user: 'v', namespace: 'three' } },
        ],
        'current-context': 'y',
      }),
      await folder.write('d/four', { 'current-context': 'x' }),
    ];
    await folder.write('a/ca.pem', cluster.config.ca!);
    const KUBECONFIG = paths.join(delimiter);
    for (const name of [undefined, 'x', 'y']) {
      const words = name === undefined ? [] : ['--context', name];
      const { text } = await byKubectl({ KUBECONFIG }, 'config', 'view', '--raw', '--minify', '-o', 'json', ...words);
      const seen = JSON.parse(text);
      const ours = await defaultConfig({ env: { KUBECONFIG }, context: name });
      const [{ cluster: theirs }] = seen.clusters;
      const user = seen.users?.[0]?.user ?? {};
      assert.deepEqual(
        [ours.server, ours.serverName, ours.proxyUrl, ours.namespace, ours.impersonate?.user],
        [theirs.server, theirs['tls-server-name'], theirs['proxy-url'], seen.contexts[0].context.namespace, user.as],
      );
      assert.deepEqual(
        await ours.credentials?.headers(),
        user.token === undefined ? undefined : { authorization: `Bearer ${user.token}` },
      );
      assert.equal(ours.ca, theirs['certificate-authority'] === undefined ? undefined : cluster.config.ca);
    }
  });

  const exec = (more: object = {}) => ({
    apiVersion: 'client.authentication.k8s.io/v1',
    command: './plugin',
    interactiveMode: 'IfAvailable',
    ...more,
  });
  type Content = () => object;
  const cases: Readonly<Record<string, Content>> = {
    'a certificate in the file': () => kubeconfig({ cluster: here(), user: byData() }),
    'files beside it': () =>
      kubeconfig({
        cluster: { server: cluster.url, 'certificate-authority': 'ca.pem' },
        user: { 'client-certificate': 'client.pem', 'client-key': 'key.pem' },
      }),
    'no authority': () => kubeconfig({ cluster: { server: cluster.url }, user: byData() }),
    'any certificate of the server': () =>
      kubeconfig({ cluster: { server: cluster.url, 'insecure-skip-tls-verify': true }, user: byData() }),
    'any certificate, and an authority': () =>
      kubeconfig({ cluster: { ...here(), 'insecure-skip-tls-verify': true }, user: byData() }),
    'an address without https': () =>
      kubeconfig({ cluster: { ...here(), server: cluster.url.replace('https://', '') }, user: byData() }),
    'a slash after the address': () =>
      kubeconfig({ cluster: { ...here(), server: `${cluster.url}/` }, user: byData() }),
    'another name of the server': () =>
      kubeconfig({ cluster: { ...here(), 'tls-server-name': 'localhost' }, user: byData() }),
    'a wrong name of the server': () =>
      kubeconfig({ cluster: { ...here(), 'tls-server-name': 'other' }, user: byData() }),
    'no server': () => kubeconfig({ cluster: { server: '' }, user: byData() }),
    'a proxy of an odd kind': () => kubeconfig({ cluster: { ...here(), 'proxy-url': 'ftp://x' }, user: byData() }),
    'a certificate without a key': () =>
      kubeconfig({ cluster: here(), user: { ...byData(), 'client-key-data': undefined } }),
    'two proofs': () => kubeconfig({ cluster: here(), user: { token: 'a', username: 'b', password: 'c' } }),
    'groups without a user': () => kubeconfig({ cluster: here(), user: { ...byData(), 'as-groups': ['a'] } }),
    'a user to act as': () => kubeconfig({ cluster: here(), user: { ...byData(), as: 'a', 'as-groups': ['b'] } }),
    'an auth provider': () => kubeconfig({ cluster: here(), user: { 'auth-provider': { name: 'gcp' } } }),
    'no context': () => ({ ...(kubeconfig({ cluster: here() }) as object), 'current-context': 'absent' }),
    'a context of no cluster': () => kubeconfig({ cluster: here(), context: { cluster: 'absent' } }),
    'a context of no user': () => kubeconfig({ cluster: here(), context: { user: 'absent' } }),
    'a name twice': () => ({
      ...(kubeconfig({ cluster: here(), user: byData() }) as object),
      users: [
        { name: 'u', user: byData() },
        { name: 'u', user: {} },
      ],
    }),
    'a broken user that nobody uses': () => ({
      ...(kubeconfig({ cluster: here() }) as object),
      users: [
        { name: 'u', user: byData() },
        { name: 'v', user: { 'client-certificate': 'absent.pem' } },
      ],
    }),
    'a number for a text': () => kubeconfig({ cluster: here(), user: { ...byData(), as: 7 } }),
    'a text for a flag': () => kubeconfig({ cluster: { ...here(), 'insecure-skip-tls-verify': 'no' }, user: byData() }),
    'fields that nobody knows': () => kubeconfig({ cluster: { ...here(), more: 1 }, user: { ...byData(), other: [] } }),
    'a plugin': () => kubeconfig({ cluster: here(), user: { exec: exec() } }),
    'a plugin of v1beta1': () =>
      kubeconfig({
        cluster: here(),
        user: { exec: exec({ apiVersion: 'client.authentication.k8s.io/v1beta1', interactiveMode: undefined }) },
      }),
    'a plugin of v1alpha1': () =>
      kubeconfig({ cluster: here(), user: { exec: exec({ apiVersion: 'client.authentication.k8s.io/v1alpha1' }) } }),
    'a plugin without a mode': () =>
      kubeconfig({ cluster: here(), user: { exec: exec({ interactiveMode: undefined }) } }),
    'a plugin that must ask': () =>
      kubeconfig({ cluster: here(), user: { exec: exec({ interactiveMode: 'Always' }) } }),
    'a plugin that is not there': () =>
      kubeconfig({
        cluster: here(),
        user: { exec: exec({ command: 'hangar-absent', installHint: 'Install it so.' }) },
      }),
    'a plugin without a command': () => kubeconfig({ cluster: here(), user: { exec: exec({ command: '' }) } }),
    'a plugin and a provider': () =>
      kubeconfig({ cluster: here(), user: { exec: exec(), 'auth-provider': { name: 'oidc' } } }),
  };

  async function prepared(folder: TestFolder): Promise<void> {
    await folder.write('ca.pem', cluster.config.ca!);
    await folder.write('client.pem', pair.certificate);
    await folder.write('key.pem', pair.key);
    const status = { clientCertificateData: pair.certificate, clientKeyData: pair.key };
    for (const version of ['v1', 'v1beta1']) {
      const apiVersion = `client.authentication.k8s.io/${version}`;
      await folder.write(`${version}.json`, { kind: 'ExecCredential', apiVersion, status });
    }
    const script = `case "$KUBERNETES_EXEC_INFO" in *v1beta1*) version=v1beta1;; *) version=v1;; esac
printf '%s' "$KUBERNETES_EXEC_INFO" > ${folder.path}/info
cat ${folder.path}/$version.json`;
    await folder.program('plugin', script);
  }

  for (const [what, content] of Object.entries(cases)) {
    test(`with ${what}: taken by both or by none`, async (context) => {
      const folder = await testFolder(context);
      await prepared(folder);
      const KUBECONFIG = await folder.write('config', content());
      const [theirs, ours] = [
        await byKubectl({ KUBECONFIG }, 'get', '--raw', '/version'),
        await byClient({ KUBECONFIG }),
      ];
      assert.equal(ours.isTaken, theirs.isTaken, `kubectl: ${theirs.text}\nclient: ${ours.text}`);
      if (what === 'a plugin that is not there') {
        for (const { text } of [theirs, ours]) assert.match(text, /Install it so\./);
      }
    });
  }

  test('data beside a file counts here, as the format says; kubectl says so too, and refuses', async (context) => {
    const folder = await testFolder(context);
    const cluster = { ...here(), 'certificate-authority': 'absent.pem' };
    const KUBECONFIG = await folder.write('config', kubeconfig({ cluster, user: byData() }));
    const theirs = await byKubectl({ KUBECONFIG }, 'get', '--raw', '/version');
    assert.equal(theirs.isTaken, false);
    assert.match(theirs.text, /certificate-authority-data will override/);
    const ours = await byClient({ KUBECONFIG });
    assert.equal(ours.isTaken, true, ours.text);
  });

  test('a plugin is told the same by both', async (context) => {
    const folder = await testFolder(context);
    await prepared(folder);
    const extension = { audience: 'a', nested: { list: [1, 'b', null] } };
    const KUBECONFIG = await folder.write(
      'config',
      kubeconfig({
        cluster: {
          ...here(),
          'tls-server-name': 'localhost',
          'disable-compression': true,
          extensions: [{ name: 'client.authentication.k8s.io/exec', extension }],
        },
        user: { exec: exec({ provideClusterInfo: true, env: [{ name: 'A', value: 'b' }], args: ['c'] }) },
      }),
    );
    assert.equal((await byKubectl({ KUBECONFIG }, 'get', '--raw', '/version')).isTaken, true);
    const theirs = JSON.parse(await readFile(`${folder.path}/info`, 'utf8'));
    const ours = await byClient({ KUBECONFIG });
    assert.equal(ours.isTaken, true, ours.text);
    assert.deepEqual(JSON.parse(await readFile(`${folder.path}/info`, 'utf8')), theirs);
  });
});
