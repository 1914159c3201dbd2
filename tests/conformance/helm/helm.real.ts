/**
 * The real Helm installs, upgrades, rolls back and uninstalls a chart, and waits for its objects: pods run, because the real controllers
 * and a fake node are beside the server.
 */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before, describe, test } from 'node:test';
import { run } from '../../../tools/run.ts';
import { tool } from '../../../tools/tool.ts';
import { apiOf } from '../components/api.ts';
import type { Api } from '../components/api.ts';
import { startCluster } from '../components/cluster.ts';
import type { Cluster } from '../components/cluster.ts';
import { FakeNode } from '../components/fake-node.ts';

const chart = fileURLToPath(new URL('chart', import.meta.url));
const timeoutMs = 90_000;

interface Release {
  readonly revision: number;
  readonly status: string;
}

describe('Helm', () => {
  let cluster: Cluster;
  let api: Api;
  let node: FakeNode;
  let home: string;
  before(async () => {
    await tool('helm', { log: console.log });
    cluster = await startCluster({ components: ['kube-controller-manager', 'kube-scheduler'] });
    api = await apiOf(cluster);
    node = await FakeNode.start(api, 'node-a');
    home = await mkdtemp(join(tmpdir(), 'hangar-helm-'));
  });
  after(async () => {
    await node?.[Symbol.asyncDispose]();
    api?.[Symbol.dispose]();
    await cluster?.stop();
    if (home) await rm(home, { recursive: true, force: true });
  });

  const core = '/api/v1/namespaces/greetings';
  async function helm(...args: readonly string[]): Promise<string> {
    const all = [...args, `--kubeconfig=${cluster.kubeconfig}`, '--namespace=greetings'];
    const env = { ...process.env, HOME: home, HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };
    const { stdout, stderr, failure } = await run(await tool('helm'), all, { timeoutMs, env });
    assert.equal(failure, undefined, `helm ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  }
  const history = async (): Promise<[number, string][]> =>
    (JSON.parse(await helm('history', 'greeter', '--output=json')) as Release[]).map((one) => [
      one.revision,
      one.status,
    ]);
  const greeting = async (): Promise<string> => (await api.get(`${core}/configmaps/greeter-text`))!['data'].greeting;
  const replicas = async (): Promise<number> =>
    (await api.get('/apis/apps/v1/namespaces/greetings/deployments/greeter'))!['status'].readyReplicas;
  const custom = () => api.get('/apis/helm.example.com/v1/namespaces/greetings/greetings/greeter');

  test('installs a definition and its objects, after the hook, and waits until the pods are ready', async () => {
    await helm('install', 'greeter', chart, '--create-namespace', '--wait', '--timeout=60s');
    assert.deepEqual(await history(), [[1, 'deployed']]);
    assert.equal(await greeting(), 'hello');
    assert.equal(await replicas(), 1);
    assert.deepEqual((await custom())!['spec'], { text: 'hello', loud: false });
    assert.ok(await api.get(`${core}/configmaps/greeter-before-install`));
    assert.ok(await api.get(`${core}/secrets/greeter-extra`));
  });

  test('upgrades what changed, takes away what is no longer in the chart, and runs the Job of its hook', async () => {
    const changes = ['--set=greeting=hi', '--set=replicas=2', '--set=extra=false'];
    await helm('upgrade', 'greeter', chart, ...changes, '--wait', '--timeout=60s');
    assert.deepEqual(await history(), [
      [1, 'superseded'],
      [2, 'deployed'],
    ]);
    assert.equal(await greeting(), 'hi');
    assert.equal(await replicas(), 2);
    assert.equal((await custom())!['spec'].text, 'hi');
    assert.equal(await api.get(`${core}/secrets/greeter-extra`), undefined);
    // By its deletion policy; background deletion takes a moment.
    await api.eventually('the end of the Job', async () => {
      const left = await api.get('/apis/batch/v1/namespaces/greetings/jobs/greeter-migrate');
      return left === undefined;
    });
  });

  test('an upgrade that is refused leaves a failed revision and the objects of the last good one', async () => {
    await assert.rejects(helm('upgrade', 'greeter', chart, '--set=greeting='), /spec\.text/);
    assert.deepEqual((await history()).at(-1), [3, 'failed']);
    assert.equal((await custom())!['spec'].text, 'hi');
  });

  test('rolls back to what was', async () => {
    await helm('rollback', 'greeter', '1', '--wait', '--timeout=60s');
    assert.deepEqual((await history()).at(-1), [4, 'deployed']);
    assert.equal(await greeting(), 'hello');
    assert.ok(await api.get(`${core}/secrets/greeter-extra`));
    await api.eventually('one replica', async () => (await replicas()) === 1);
  });

  test('what is shown, rendered and dry-run on the server agrees with what is there', async () => {
    assert.match(await helm('get', 'manifest', 'greeter'), /greeting: "hello"/);
    assert.match(await helm('status', 'greeter'), /STATUS: deployed/);
    const before = await api.get(`${core}/configmaps/greeter-text`);
    await helm('upgrade', 'greeter', chart, '--dry-run=server', '--set=greeting=imagined');
    assert.deepEqual(await api.get(`${core}/configmaps/greeter-text`), before);
    assert.deepEqual((await history()).at(-1), [4, 'deployed']);
  });

  test('uninstalls everything but the definition and what hooks leave', async () => {
    await helm('uninstall', 'greeter', '--wait', '--timeout=60s');
    await api.eventually(
      'the end of the pods',
      async () => (await api.list(`${core}/pods?labelSelector=app%3Dgreeter`)).length === 0,
    );
    const left = (await api.list(`${core}/configmaps`)).map((one) => one.metadata.name);
    assert.deepEqual(left.filter((name) => name.startsWith('greeter')).sort(), [
      'greeter-after-delete',
      'greeter-before-install',
    ]);
    assert.equal(await custom(), undefined);
    assert.ok(await api.get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/greetings.helm.example.com'));
    const releases = await api.list(`${core}/secrets?labelSelector=owner%3Dhelm`);
    assert.deepEqual(releases, []);
  });
});
