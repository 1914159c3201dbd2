/**
 * A controller-runtime operator on Hangar, installed by kubectl apply: two processes of it elect a leader; finalizer, owned
 * objects, status conditions and an upgrade of its definition work as its users expect.
 */

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { ownProgram } from '../../../tools/own-program.ts';
import { run } from '../../../tools/run.ts';
import { tool } from '../../../tools/tool.ts';
import { apiOf } from '../components/api.ts';
import type { Api, KubeObject } from '../components/api.ts';
import { startCluster } from '../components/cluster.ts';
import type { Cluster } from '../components/cluster.ts';
import { readKubeconfig } from '../servers/index.ts';
import { freePorts } from '../../../tools/free-ports.ts';
import { Processes } from '../servers/processes.ts';

const manifest = (name: string): string => fileURLToPath(new URL(`manifests/${name}.yaml`, import.meta.url));
const websites = '/apis/operator.example.com/v1/namespaces/default/websites';

describe('a controller-runtime operator', () => {
  let cluster: Cluster;
  let api: Api;
  let processes: Processes;
  const operators = new Map<string, { readonly child: ChildProcess; readonly webhookPort: number }>();
  const world = { clock: systemClock, random: systemRandom };
  const webhookAuthority = createAuthority('webhooks', 1, world);
  before(async () => {
    const program = await ownProgram({ name: 'conformance-operator', folder: import.meta.dirname }, console.log);
    // The webhook is on this machine, which an administrator must allow.
    cluster = await startCluster({ components: [], serverArguments: ['--outbound-allow-cidr=127.0.0.1/32'] });
    api = await apiOf(cluster);
    await kubectl('apply', `--filename=${manifest('websites')}`, `--filename=${manifest('operator')}`);
    await kubectl('wait', '--for=condition=Established', 'crd/websites.operator.example.com');
    // After the definition: garbage collection discovers new kinds only every thirty seconds.
    await cluster.startComponent('kube-controller-manager');
    const kubeconfig = await operatorKubeconfig();
    processes = await Processes.start('operator', async (started) => started);
    const certificates = await webhookCertificates();
    const ports = await freePorts(2);
    for (const [index, name] of ['first', 'second'].entries()) {
      const webhookPort = ports[index]!;
      const child = processes.run(program, [
        `--operator-kubeconfig=${kubeconfig}`,
        `--name=${name}`,
        `--webhook-port=${webhookPort}`,
        `--webhook-certificates=${certificates}`,
      ]);
      operators.set(name, { child, webhookPort });
    }
  });
  after(async () => {
    await processes?.stop();
    api?.[Symbol.dispose]();
    await cluster?.stop();
  });

  async function kubectl(...args: readonly string[]): Promise<string> {
    const all = [`--kubeconfig=${cluster.kubeconfig}`, ...args];
    const { stdout, stderr, failure } = await run(await tool('kubectl'), all, {
      timeoutMs: 60_000,
      env: { ...process.env, HOME: cluster.folder },
    });
    assert.equal(failure, undefined, `kubectl ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  }

  /** With a token of its service account: it has the permissions of its role, and no more. */
  async function operatorKubeconfig(): Promise<string> {
    const token = (await kubectl('create', 'token', 'websites', '--namespace=operator')).trim();
    const config = await readKubeconfig(cluster.kubeconfig);
    const path = join(cluster.folder, 'operator.kubeconfig');
    await writeFile(path, JSON.stringify({ ...config, users: [{ name: config.users[0]!.name, user: { token } }] }));
    return path;
  }

  async function webhookCertificates(): Promise<string> {
    const folder = join(cluster.folder, 'webhook');
    const request = { commonName: 'webhook', usage: 'server', hosts: ['127.0.0.1'], days: 1 } as const;
    const pair: KeyPair = issueCertificate(webhookAuthority, request, world);
    await mkdir(folder);
    await writeFile(join(folder, 'tls.crt'), pair.certificate);
    await writeFile(join(folder, 'tls.key'), pair.key);
    return folder;
  }

  const isReady = async (name: string): Promise<KubeObject | undefined> => {
    const found = await api.get(`${websites}/${name}`);
    const ready = found?.['status']?.conditions?.find((one: { type: string }) => one.type === 'Ready');
    return ready?.status === 'True' && ready.observedGeneration === found?.metadata['generation'] ? found : undefined;
  };
  const register = async (): Promise<Record<string, string>> =>
    (await api.get('/api/v1/namespaces/operator/configmaps/register'))!['data'] ?? {};
  const page = (name: string) => api.get(`/api/v1/namespaces/default/configmaps/${name}-page`);
  const create = (name: string, title: string) => api.create(websites, website(name, { title }));
  const website = (name: string, spec: object) => ({
    apiVersion: 'operator.example.com/v1',
    kind: 'Website',
    metadata: { name },
    spec,
  });

  test('makes what a new object asks for, and says so in its status', async () => {
    await create('home', 'Welcome');
    const found = await api.eventually('the condition', () => isReady('home'));
    assert.deepEqual(found.metadata['finalizers'], ['operator.example.com/register']);
    assert.equal((await page('home'))!['data']['index.html'], '<h1>Welcome</h1>');
    assert.deepEqual(await register(), { 'default.home': 'Welcome' });
  });

  test('follows a change, and repairs what somebody else deleted', async () => {
    await api.patch(`${websites}/home`, { spec: { title: 'Hello' } });
    await api.eventually('the new page', async () => (await page('home'))?.['data']['index.html'] === '<h1>Hello</h1>');
    const { uid } = (await page('home'))!.metadata;
    await api.remove('/api/v1/namespaces/default/configmaps/home-page');
    await api.eventually('another page', async () => {
      const found = await page('home');
      return found !== undefined && found.metadata.uid !== uid;
    });
  });

  test('cleans up before an object goes, and garbage collection takes what it owned', async () => {
    await create('gone', 'Soon');
    await api.eventually('the condition', () => isReady('gone'));
    await api.remove(`${websites}/gone`);
    await api.eventually('its end', async () => !(await api.get(`${websites}/gone`)));
    assert.deepEqual(await register(), { 'default.home': 'Hello' });
    await api.eventually('the end of its page', async () => !(await page('gone')));
  });

  test('when the leader ends, the other goes on', async () => {
    const { reconciledBy: leader } = (await isReady('home'))!['status'];
    const { child } = operators.get(leader as string)!;
    // It still reconciles events before it has exited: only then the other one takes over.
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
    operators.delete(leader as string);
    await create('later', 'Later');
    const found = await api.eventually('the condition', () => isReady('later'));
    assert.notEqual(found['status'].reconciledBy, leader);
  });

  test('its webhook is asked about every write, and may refuse it', async () => {
    const { webhookPort } = [...operators.values()][0]!;
    await api.create('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
      metadata: { name: 'websites' },
      webhooks: [
        {
          name: 'websites.operator.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          clientConfig: {
            url: `https://127.0.0.1:${webhookPort}/validate-operator-example-com-v1-website`,
            caBundle: Buffer.from(webhookAuthority.certificate).toString('base64'),
          },
          rules: [
            {
              apiGroups: ['operator.example.com'],
              apiVersions: ['v1'],
              operations: ['CREATE', 'UPDATE'],
              resources: ['websites'],
            },
          ],
        },
      ],
    });
    const { code, message } = await api.refusal(websites, website('nameless', { title: 'untitled' }));
    assert.equal(code, 403);
    assert.match(message, /admission webhook "websites\.operator\.example\.com" denied the request: a website may not/);
    await create('named', 'A name');
    await api.eventually('the condition', () => isReady('named'));
  });

  test('an upgrade of the definition keeps objects and operator, and its new rules hold', async () => {
    await kubectl('apply', `--filename=${manifest('websites-upgraded')}`);
    const upgraded = websites.replace('/v1/', '/v2/');
    await api.eventually(
      'the new version',
      async () => (await api.get(`${upgraded}/home`))?.['spec'].theme === 'plain',
    );
    const { message } = await api.refusal(upgraded, {
      ...website('unfinished', { title: 'TODO' }),
      apiVersion: 'operator.example.com/v2',
    });
    assert.match(message, /a website needs a title/);
    // The webhook, which supports version 1 only, receives version 2 converted to it.
    const equivalent = await api.refusal(upgraded, {
      ...website('nameless', { title: 'untitled' }),
      apiVersion: 'operator.example.com/v2',
    });
    assert.match(equivalent.message, /a website may not be called/);
    await api.patch(`${upgraded}/home`, { spec: { theme: 'dark', title: 'Night' } });
    await api.eventually('the page', async () => (await page('home'))?.['data']['index.html'] === '<h1>Night</h1>');
    // The operator writes in the old version, and without the field.
    await api.eventually('the condition', () => isReady('home'));
    assert.equal((await api.get(`${upgraded}/home`))!['spec'].theme, 'dark');
    const definition = await api.get(
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/websites.operator.example.com',
    );
    assert.deepEqual(definition!['status'].storedVersions, ['v1', 'v2']);
    assert.match(await kubectl('get', 'websites.v2.operator.example.com'), /NAME\s+THEME\s+READY\nhome\s+dark\s+True/);
  });

  test('is uninstalled with its objects, when they are let go', async () => {
    await kubectl('delete', 'websites', '--all', '--timeout=30s');
    assert.deepEqual(await register(), {});
    await kubectl('delete', `--filename=${manifest('websites-upgraded')}`, '--timeout=30s');
    assert.equal(await api.get(websites), undefined);
  });
});
