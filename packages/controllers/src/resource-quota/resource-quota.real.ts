/** Compares with the real kube-apiserver and kube-controller-manager: the same objects and quotas have the same status. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import { connect, defineKind } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Deployment } from '@hangar/client/kinds/apps-v1';
import {
  ConfigMap,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  Secret,
  Service,
} from '@hangar/client/kinds/core-v1';
import { PriorityClass } from '@hangar/client/kinds/scheduling-v1';
import { ResourceClaim } from '@hangar/client/kinds/resource-v1';
import { installCrd, startTestFleet } from '@hangar/testkit';
import { tool } from '../../../../tools/tool.ts';
import { eventually, runControllers } from '../testing/run-controllers.ts';
import { ResourceQuotaController } from './controller.ts';

const namespace = 'shop';
const token = 'quota-token';
const opened = new AsyncDisposableStack();
let clients: { readonly real: Client; readonly ours: Client };

before(async () => {
  const path = await tool('kube-controller-manager', { log: console.log });
  const server = opened.use(await startRealServer([], [{ token, user: 'quota', groups: ['system:masters'] }]));
  const credentials = { headers: () => ({ authorization: `Bearer ${token}` }) };
  const real = connect({ server: server.url, isInsecure: true, credentials });
  opened.defer(() => real.close());
  const folder = await mkdtemp(join(tmpdir(), 'hangar-quota-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'kubeconfig'), kubeconfigOf(server.url), { mode: 0o600 });
  const fleet = opened.use(await startTestFleet({ clusters: 1 }));
  opened.use(runControllers(fleet, { controllers: (world) => [new ResourceQuotaController(world)] }));
  clients = { real, ours: fleet.clientOf('cluster-0') };
  await both(setUp);
  // It discovers new kinds only periodically.
  const flags = [`--kubeconfig=${folder}/kubeconfig`, '--secure-port=0', '--leader-elect=false'];
  const only = ['--controllers=resourcequota-controller', '--resource-quota-sync-period=3s'];
  const manager = spawn(path, [...flags, ...only], { stdio: 'ignore' });
  opened.defer(async () => {
    if (manager.exitCode !== null) return;
    manager.kill('SIGKILL');
    await once(manager, 'exit');
  });
});

after(() => opened.disposeAsync());

const both = (act: (client: Client) => Promise<unknown>): Promise<unknown> =>
  Promise.all([act(clients.real), act(clients.ours)]);

const kubeconfigOf = (server: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'q', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'q', user: { token } }],
    contexts: [{ name: 'q', context: { cluster: 'q', user: 'q' } }],
    'current-context': 'q',
  });

const Widget = defineKind({ apiVersion: 'example.com/v1', kind: 'Widget', plural: 'widgets', isNamespaced: true });
const widgets = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' as const } } }],
  },
};

const sized = (requests: Record<string, string>, limits: Record<string, string> = {}): object => ({ requests, limits });
const container = (resources: object, more: object = {}): object => ({ name: 'c', image: 'i', resources, ...more });

const pods: Record<string, object> = {
  small: { containers: [container(sized({ cpu: '100m', memory: '64Mi' }))] },
  limited: { containers: [container(sized({ cpu: '1', memory: '1Gi' }, { cpu: '2', memory: '2Gi' }))] },
  ending: { containers: [container(sized({ cpu: '250m' }))], activeDeadlineSeconds: 600 },
  best: { containers: [container({})] },
  important: { containers: [container(sized({ cpu: '50m', 'ephemeral-storage': '1Gi' }))], priorityClassName: 'high' },
  starting: {
    containers: [container(sized({ cpu: '100m' }))],
    initContainers: [
      container(sized({ cpu: '2' }), { name: 'i' }),
      container(sized({ cpu: '300m' }), { name: 's', restartPolicy: 'Always' }),
    ],
  },
  device: { containers: [container(sized({ 'example.com/gpu': '2' }, { 'example.com/gpu': '2' }))] },
  doomed: { containers: [container(sized({ cpu: '100m' }))] },
  finished: { containers: [container(sized({ cpu: '100m' }))] },
};

const services: Record<string, object> = {
  inside: { ports: [{ port: 80 }] },
  node: {
    type: 'NodePort',
    ports: [
      { name: 'a', port: 80 },
      { name: 'b', port: 81 },
    ],
  },
  balancer: { type: 'LoadBalancer', ports: [{ port: 80 }] },
  withoutports: { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{ port: 80 }] },
};

const claim = (storageClassName: string, storage: string): object => ({
  storageClassName,
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage } },
});

const expression = (scopeName: string, operator: string, values?: string[]): object => ({
  scopeSelector: { matchExpressions: [{ scopeName, operator, ...(values ? { values } : {}) }] },
});

const gold = 'gold.storageclass.storage.k8s.io';
const quotas: Record<string, NonNullable<ResourceQuota['spec']>> = {
  pods: {
    hard: { pods: '50', 'count/pods': '50', cpu: '100', memory: '100Gi', 'limits.cpu': '50', 'limits.memory': '9Gi' },
  },
  requests: { hard: { 'requests.cpu': '100', 'requests.ephemeral-storage': '9Gi', 'requests.example.com/gpu': '9' } },
  ending: { hard: { pods: '9', 'count/pods': '9' }, scopes: ['Terminating'] },
  lasting: { hard: { pods: '20', 'requests.cpu': '20' }, scopes: ['NotTerminating', 'NotBestEffort'] },
  best: { hard: { pods: '9' }, scopes: ['BestEffort'] },
  high: { hard: { pods: '9', 'requests.cpu': '9' }, ...expression('PriorityClass', 'In', ['high']) },
  low: { hard: { pods: '20' }, ...expression('PriorityClass', 'NotIn', ['high']) },
  services: {
    hard: { services: '9', 'count/services': '9', 'services.nodeports': '20', 'services.loadbalancers': '9' },
  },
  storage: {
    hard: {
      persistentvolumeclaims: '9',
      'requests.storage': '100Gi',
      [`${gold}/requests.storage`]: '50Gi',
      [`${gold}/persistentvolumeclaims`]: '5',
      'none.storageclass.storage.k8s.io/requests.storage': '5Gi',
    },
  },
  counts: {
    hard: {
      configmaps: '9',
      'count/configmaps': '9',
      secrets: '9',
      resourcequotas: '30',
      'count/deployments.apps': '5',
      'count/widgets.example.com': '5',
      'count/gadgets.example.com': '5',
    },
  },
  devices: { hard: { 'count/resourceclaims.resource.k8s.io': '5', 'gpu.deviceclass.resource.k8s.io/devices': '9' } },
};

async function setUp(client: Client): Promise<void> {
  await client.create(Namespace, { metadata: { name: namespace } });
  await client.create(PriorityClass, { metadata: { name: 'high' }, value: 1000 });
  await installCrd(client, widgets);
  const at = (name: string): { namespace: string; name: string } => ({ namespace, name });
  for (const [name, spec] of Object.entries(pods)) await client.create(Pod, { metadata: at(name), spec } as never);
  for (const [name, spec] of Object.entries(services)) await client.create(Service, { metadata: at(name), spec });
  await client.create(PersistentVolumeClaim, { metadata: at('a'), spec: claim('gold', '2Gi') });
  await client.create(PersistentVolumeClaim, { metadata: at('b'), spec: claim('iron', '1500M') });
  await client.create(PersistentVolumeClaim, { metadata: at('c'), spec: claim('gold', '0.5Gi') });
  for (const name of ['a', 'b', 'c']) await client.create(ConfigMap, { metadata: at(name) });
  await client.create(Secret, { metadata: at('a') });
  await client.create(Widget, { metadata: at('a') });
  const labels = { app: 'a' };
  await client.create(Deployment, {
    metadata: at('a'),
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  });
  await client.create(ResourceClaim, {
    metadata: at('a'),
    spec: {
      devices: {
        requests: [{ name: 'r', exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 3 } }],
      },
    },
  });
  for (const [name, spec] of Object.entries(quotas)) await client.create(ResourceQuota, { metadata: at(name), spec });
}

type Statuses = Record<string, unknown>;

async function statusesOf(client: Client): Promise<Statuses> {
  const { items } = await client.list(ResourceQuota, { namespace });
  const sorted = (list: object | undefined): object => Object.fromEntries(Object.entries(list ?? {}).toSorted());
  return Object.fromEntries(
    items.map(({ metadata, status }) => [metadata.name!, { hard: sorted(status?.hard), used: sorted(status?.used) }]),
  );
}

/** Waits until both are equal: one of them may be some seconds behind. */
async function sameStatuses(isSo: (statuses: Statuses) => boolean): Promise<Statuses> {
  return eventually(
    async () => {
      const [real, ours] = [await statusesOf(clients.real), await statusesOf(clients.ours)];
      assert.ok(isSo(real), `kube-controller-manager says ${JSON.stringify(real)}`);
      assert.deepEqual(ours, real);
      return ours;
    },
    { withinMs: 20_000 },
  );
}

const usedOf = (statuses: Statuses, quota: string, limit: string): string | undefined =>
  (statuses[quota] as { used: Record<string, string> }).used[limit];

test('pods, services, claims, devices and anything that can be counted are counted as kube-controller-manager counts them', async () => {
  const statuses = await sameStatuses(
    (real) => usedOf(real, 'pods', 'pods') === '9' && usedOf(real, 'counts', 'count/widgets.example.com') === '1',
  );
  for (const name of Object.keys(quotas)) assert.notDeepEqual(statuses[name], { hard: {}, used: {} }, name);
});

test('after all kinds of changes, too', async () => {
  const key = (name: string): { namespace: string; name: string } => ({ namespace, name });
  await both(async (client) => {
    await client.delete(Pod, key('doomed'), { gracePeriodSeconds: 0 });
    await client.status.patch(Pod, key('finished'), { type: 'merge', body: { status: { phase: 'Failed' } } });
    await client.patch(Pod, key('limited'), { type: 'merge', body: { spec: { activeDeadlineSeconds: 60 } } });
    await client.patch(Service, key('node'), { type: 'merge', body: { spec: { type: 'ClusterIP' } } });
    await client.delete(Service, key('balancer'));
    await client.patch(PersistentVolumeClaim, key('a'), { type: 'merge', body: { metadata: { finalizers: null } } });
    await client.delete(PersistentVolumeClaim, key('a'));
    for (const name of ['a', 'b']) await client.delete(ConfigMap, key(name));
    await client.create(ConfigMap, { metadata: key('d') });
    await client.delete(Widget, key('a'));
    await client.delete(ResourceClaim, key('a'));
    await client.patch(ResourceQuota, key('services'), {
      type: 'merge',
      body: { spec: { hard: { services: '12', 'count/services': null, 'count/secrets': '3' } } },
    });
  });
  await sameStatuses(
    (real) => usedOf(real, 'pods', 'pods') === '7' && usedOf(real, 'services', 'count/secrets') === '1',
  );
});
