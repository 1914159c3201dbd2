/** Scaling behaves as on a real kube-apiserver: for built-in workloads and custom resources, and for any owner of the number. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRealServer } from '@hangar/api/testing';
import { compareServers } from '../testing/both-servers.ts';
import type { Step } from '../testing/both-servers.ts';
import { startInProcess } from '../testing/in-process.ts';

const deployments = '/apis/apps/v1/namespaces/default/deployments';
const merge = 'application/merge-patch+json';
const apply = 'application/apply-patch+yaml';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'main', image: 'image' }] } };
const workload = (kind: string, name: string, spec: object = {}): object => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name },
  spec: { selector: { matchLabels: { a: 'b' } }, template, ...spec },
});
const get = (path: string, rest: Partial<Step> = {}): Step => ({ method: 'GET', path, ...rest });
const post = (path: string, body: unknown): Step => ({ method: 'POST', path, body });
const put = (path: string, body: object): Step => ({ method: 'PUT', path, body });
const patch = (path: string, body: unknown, contentType = merge): Step => ({
  method: 'PATCH',
  path,
  body,
  contentType,
});
const scale = (replicas: number | undefined, metadata: object = {}): object => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'web', namespace: 'default', ...metadata },
  spec: { replicas },
});
const web = `${deployments}/web/scale`;

const builtin: readonly Step[] = [
  post(deployments, workload('Deployment', 'web')),
  get(web),
  // Hangar's tables have no descriptions.
  get(web, { accept: table, ignore: ['columnDefinitions', 'rows.0.cells'] }),
  get(`${deployments}/absent/scale`),
  put(`${deployments}/absent/scale`, scale(2, { name: 'absent' })),
  patch(`${deployments}/absent/scale`, { spec: { replicas: 2 } }),
  patch(
    `${deployments}/absent/scale?fieldManager=me`,
    { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 2 } },
    apply,
  ),
  put(web, scale(3)),
  get(`${deployments}/web`),
  put(web, scale(3)),
  get(`${deployments}/web`),
  put(`${web}?fieldManager=me`, scale(4)),
  get(`${deployments}/web`),
  put(web, scale(undefined)),
  put(web, scale(-1)),
  put(web, scale(2, { name: 'other' })),
  put(web, scale(2, { namespace: 'other' })),
  put(web, scale(2, { uid: 'wrong' })),
  put(web, scale(2, { resourceVersion: '1' })),
  put(web, { ...scale(2), apiVersion: 'apps/v1' }),
  put(web, { ...scale(2), kind: 'Deployment' }),
  put(web, { ...scale(2), unknown: 1 }),
  put(`${web}?dryRun=All`, scale(9)),
  patch(web, { spec: { replicas: 5 } }),
  patch(`${web}?fieldManager=you`, { spec: { replicas: 6 } }),
  get(`${deployments}/web`),
  { ...patch(web, { spec: { replicas: 'x' } }), codeOnly: true },
  patch(web, { metadata: { resourceVersion: '1' } }),
  patch(web, [{ op: 'replace', path: '/spec/replicas', value: 7 }], 'application/json-patch+json'),
  patch(web, [{ op: 'test', path: '/spec/replicas', value: 1 }], 'application/json-patch+json'),
  patch(web, { spec: { replicas: 8 } }, 'application/strategic-merge-patch+json'),
  patch(`${web}?fieldManager=a`, { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 8 } }, apply),
  get(`${deployments}/web`),
  // The order of the causes is random.
  {
    ...patch(`${web}?fieldManager=b`, { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 9 } }, apply),
    codeOnly: true,
  },
  patch(
    `${web}?fieldManager=b&force=true`,
    { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 9 } },
    apply,
  ),
  get(`${deployments}/web`),
  patch(`${web}?fieldManager=b`, { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: {} }, apply),
  get(`${deployments}/web`),
  patch(
    `${deployments}/web?fieldManager=c`,
    { apiVersion: 'apps/v1', kind: 'Deployment', spec: { replicas: 2 } },
    apply,
  ),
  patch(
    `${deployments}/web?fieldManager=c&force=true`,
    { apiVersion: 'apps/v1', kind: 'Deployment', spec: { replicas: 2 } },
    apply,
  ),
  patch(`${web}?fieldManager=d`, { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 3 } }, apply),
  patch(web, { spec: { replicas: 3 } }),
  get(`${deployments}/web`),
  patch(`${web}?fieldManager=d`, { apiVersion: 'apps/v1', kind: 'Deployment', spec: { replicas: 3 } }, apply),
  ...['replicasets', 'statefulsets'].flatMap((name) => [
    post(
      `/apis/apps/v1/namespaces/default/${name}`,
      workload(name === 'replicasets' ? 'ReplicaSet' : 'StatefulSet', 'x'),
    ),
    patch(`/apis/apps/v1/namespaces/default/${name}/x/scale`, { spec: { replicas: 5 } }),
  ]),
  post('/api/v1/namespaces/default/replicationcontrollers', {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name: 'x' },
    spec: { selector: { a: 'b' }, template },
  }),
  patch('/api/v1/namespaces/default/replicationcontrollers/x/scale', { spec: { replicas: 5 } }),
];

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', kind: 'Widget' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        subresources: {
          scale: {
            specReplicasPath: '.spec.count',
            statusReplicasPath: '.status.count',
            labelSelectorPath: '.status.selector',
          },
        },
      },
    ],
  },
};
const widgets = '/apis/example.com/v1/namespaces/default/widgets';
const widget = (name: string, rest: object): object => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  ...rest,
});

const custom: readonly Step[] = [
  post(widgets, widget('web', { spec: { count: 2, other: 1 }, status: { count: 1, selector: 'a=b' } })),
  post(widgets, widget('empty', { spec: {} })),
  get(`${widgets}/web/scale`),
  get(`${widgets}/empty/scale`),
  put(`${widgets}/web/scale`, scale(3)),
  get(`${widgets}/web`),
  patch(`${widgets}/web/scale?fieldManager=me`, { spec: { replicas: 4 } }),
  patch(`${widgets}/web/scale`, { spec: { replicas: 4 } }, 'application/strategic-merge-patch+json'),
  patch(`${widgets}/empty/scale`, { spec: { replicas: 4 } }),
  get(`${widgets}/empty`),
  patch(
    `${widgets}/web/scale?fieldManager=a`,
    { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 9 } },
    apply,
  ),
  get(`${widgets}/web`),
  put(`${widgets}/web/scale`, scale(-1)),
  put(`${widgets}/absent/scale`, scale(1, { name: 'absent' })),
  patch(`${widgets}/absent/scale`, { spec: { replicas: 4 } }),
];

test('custom resources are scaled as by kube-apiserver', async () => {
  await using real = await startRealServer();
  await using hangar = await startInProcess();
  for (const server of [real, hangar]) {
    const body = JSON.stringify(definition);
    await server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body });
    while ((await server.request('GET', widgets)).status !== 200) await sleep(50);
  }
  assert.deepEqual(await compareServers(real, hangar, custom), []);
});

test('built-in workloads are scaled as by kube-apiserver', async () => {
  await using real = await startRealServer();
  await using hangar = await startInProcess();
  assert.deepEqual(await compareServers(real, hangar, builtin), []);
});
