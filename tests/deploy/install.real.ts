/**
 * Helm installs, upgrades and removes the charts on a cluster with the real controllers and scheduler; its fake node reports pods as
 * running. So hooks run in their order, Deployments are rolled out, and nothing is left but the keys.
 */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { chartFolder } from '../../scripts/generate/manifests/render.ts';
import type { ChartName } from '../../scripts/generate/manifests/render.ts';
import { run } from '../../tools/run.ts';
import { tool } from '../../tools/tool.ts';
import { apiOf } from '../conformance/components/api.ts';
import type { Api } from '../conformance/components/api.ts';
import { startCluster } from '../conformance/components/cluster.ts';
import type { Cluster } from '../conformance/components/cluster.ts';
import { FakeNode } from '../conformance/components/fake-node.ts';

const namespace = 'hangar-system';
const core = `/api/v1/namespaces/${namespace}`;
const apps = `/apis/apps/v1/namespaces/${namespace}`;
const deployments = `${apps}/deployments`;
const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`;

describe('Helm', () => {
  let cluster: Cluster;
  let api: Api;
  const nodes: FakeNode[] = [];
  let home: string;
  before(async () => {
    cluster = await startCluster({ components: ['kube-controller-manager', 'kube-scheduler'] });
    api = await apiOf(cluster);
    nodes.push(await FakeNode.start(api, 'node-a'), await FakeNode.start(api, 'node-b'));
    home = await mkdtemp(join(tmpdir(), 'hangar-helm-'));
  });
  after(async () => {
    for (const node of nodes) await node[Symbol.asyncDispose]();
    api?.[Symbol.dispose]();
    await cluster?.stop();
    if (home) await rm(home, { recursive: true, force: true });
  });

  async function helm(...args: readonly string[]): Promise<string> {
    const all = [...args, `--kubeconfig=${cluster.kubeconfig}`, `--namespace=${namespace}`];
    const env = { ...process.env, HOME: home, HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };
    const { stdout, stderr, failure } = await run(await tool('helm'), all, { timeoutMs: 90_000, env });
    assert.equal(failure, undefined, `helm ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  }
  const install = (chart: ChartName, ...more: readonly string[]): Promise<string> =>
    helm('upgrade', '--install', chart, chartFolder(chart), '--create-namespace', '--wait', '--timeout=60s', ...more);
  const ready = async (name: string): Promise<number> =>
    (await api.get(`${deployments}/${name}`))!['status'].readyReplicas;
  /** Hooks are removed in the background. */
  const hooksAreGone = (): Promise<unknown> =>
    api.eventually('the end of the hooks', async () => {
      const left = await Promise.all([jobs, roles].map((path) => api.list(path)));
      return left.flat().every(({ metadata }) => !metadata.name.startsWith('hangar-pki'));
    });

  test('installs the platform after the Job that makes keys, spreads it, and says how to get in', async () => {
    const told = await install('hangar');
    assert.match(
      told,
      /hangar pki kubeconfig --pki-dir \/etc\/hangar\/pki --server https:\/\/hangar\.hangar-system\.svc/,
    );
    assert.equal(await ready('hangar'), 2);
    const pods = await api.list(`${core}/pods?labelSelector=app.kubernetes.io/component%3Dserver`);
    assert.deepEqual([...new Set(pods.map(({ spec }) => spec['nodeName']))].sort(), ['node-a', 'node-b']);
    await hooksAreGone();
    const events = await api.list(`${core}/events`);
    assert.ok(events.some(({ involvedObject, reason }) => involvedObject.kind === 'Job' && reason === 'Completed'));
  });

  test('another configuration is rolled out, and the Job of another image does not stand in its way', async () => {
    const before = (await api.get(`${deployments}/hangar`))!;
    await install('hangar', '--set=image.tag=next', '--set=config.cache-memory=1Gi', '--set=replicas=3');
    const after = (await api.get(`${deployments}/hangar`))!;
    const checksum = (one: typeof after): string => one['spec'].template.metadata.annotations['checksum/config'];
    assert.notEqual(checksum(after), checksum(before));
    assert.equal(after['spec'].template.spec.containers[0].image, 'hangar:next');
    await api.eventually('three replicas', async () => (await ready('hangar')) === 3);
    await hooksAreGone();
  });

  test('installs the operator beside it, with its definitions', async () => {
    await install('hangar-operator');
    assert.equal(await ready('hangar-operator'), 2);
    assert.ok(
      await api.get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/controlplanes.controlplane.kplane.dev'),
    );
  });

  test('installs the controller manager, rolls out other flags of it one pod after the other, and takes it away', async () => {
    const told = await install('hangar-controller-manager');
    assert.match(told, /2 replicas share the controlplaneregistrations of this cluster; the engine is kube/);
    const statefulSet = `${apps}/statefulsets/hangar-controller-manager`;
    const selector = 'labelSelector=app.kubernetes.io/component%3Dcontroller-manager';
    const pods = await api.list(`${core}/pods?${selector}`);
    assert.deepEqual(pods.map(({ metadata }) => metadata.name).sort(), [
      'hangar-controller-manager-0',
      'hangar-controller-manager-1',
    ]);
    assert.deepEqual([...new Set(pods.map(({ spec }) => spec['nodeName']))].sort(), ['node-a', 'node-b']);
    await install('hangar-controller-manager', '--set=extraFlags={--concurrent-gc-syncs=5}');
    await api.eventually('both pods are new', async () => {
      const { status } = (await api.get(statefulSet))!;
      return status.currentRevision === status.updateRevision && status.readyReplicas === 2;
    });
    await helm('uninstall', 'hangar-controller-manager', '--wait', '--timeout=60s');
    assert.equal(await api.get(statefulSet), undefined);
  });

  test('removes the platform and leaves the keys, which the release never had', async () => {
    await api.create(`${core}/secrets`, { metadata: { name: 'hangar-pki' }, stringData: { 'ca.key': 'precious' } });
    await helm('uninstall', 'hangar', '--wait', '--timeout=60s');
    assert.equal(await api.get(`${deployments}/hangar`), undefined);
    assert.ok(await api.get(`${core}/secrets/hangar-pki`));
    assert.equal(await ready('hangar-operator'), 2);
  });
});
