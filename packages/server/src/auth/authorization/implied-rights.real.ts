/** Compares permissions that the right to write does not include, for creation and in claims, with a real kube-apiserver. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import type { RealServer } from '@hangar/api/testing';
import { compareServers } from '../../testing/both-servers.ts';
import type { Step } from '../../testing/both-servers.ts';
import { startInProcess } from '../../testing/in-process.ts';
import type { InProcessServer } from '../../testing/in-process.ts';
import { authorizersOf, superusers } from './modes.ts';

const token = 'writer-token';
const users = [{ token, user: 'writer', groups: [] }];
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const patienceMs = 20_000;

let real: RealServer;
let hangar: InProcessServer;

before(async () => {
  real = await startRealServer(['--authorization-mode=RBAC'], users);
  hangar = await startInProcess({
    tokens: users,
    authorizers: (plane) => [superusers, ...authorizersOf(plane, ['RBAC'])],
  });
  const rules = [
    { apiGroups: ['', 'coordination.k8s.io'], resources: ['configmaps', 'leases'], verbs: ['get', 'update', 'patch'] },
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], verbs: ['update', 'patch'] },
    { apiGroups: [''], resources: ['pods/exec', 'pods/attach', 'pods/portforward'], verbs: ['get'] },
    { apiGroups: ['resource.k8s.io'], resources: ['resourceclaims/status'], verbs: ['update', 'patch'] },
  ];
  const apiGroup = 'rbac.authorization.k8s.io';
  const metadata = { name: 'writer' };
  for (const server of [real, hangar]) {
    const bodies: Record<string, object> = {
      [`${rbac}/clusterroles`]: { metadata, rules },
      [`${rbac}/clusterrolebindings`]: {
        metadata,
        roleRef: { apiGroup, kind: 'ClusterRole', name: 'writer' },
        subjects: [{ apiGroup, kind: 'User', name: 'writer' }],
      },
    };
    for (const [path, body] of Object.entries(bodies)) {
      assert.equal((await server.request('POST', path, { body: JSON.stringify(body) })).status, 201);
    }
    const deadline = Date.now() + patienceMs;
    while ((await server.request('GET', `${configMaps}/none`, { token })).status === 403) {
      assert.ok(Date.now() < deadline, 'the policy is not followed');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
});
after(async () => {
  await real?.[Symbol.asyncDispose]();
  await hangar?.[Symbol.asyncDispose]();
});

const configMaps = '/api/v1/namespaces/default/configmaps';
const claims = '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims';
const apply = 'application/apply-patch+yaml';
const merge = 'application/merge-patch+json';

test('who may update or patch creates nothing by it', async () => {
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made' } };
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'made' } };
  const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'made' },
    rules: [],
  };
  const steps: Step[] = [
    { method: 'PATCH', path: `${configMaps}/made?fieldManager=m`, body: map, contentType: apply, token },
    { method: 'PATCH', path: `${configMaps}/made?fieldManager=m&dryRun=All`, body: map, contentType: apply, token },
    { method: 'PATCH', path: `${leases}/made?fieldManager=m`, body: lease, contentType: apply, token },
    { method: 'PUT', path: `${leases}/made`, body: lease, token },
    { method: 'PUT', path: `${rbac}/clusterroles/made`, body: role, token },
    { method: 'PUT', path: `${configMaps}/made`, body: map, token },
    // Validation errors come first.
    {
      method: 'PATCH',
      path: `${configMaps}/m_ade?fieldManager=m`,
      body: { ...map, metadata: { name: 'm_ade' } },
      contentType: apply,
      token,
    },
    { method: 'GET', path: `${configMaps}/made` },
    { method: 'GET', path: `${leases}/made` },
  ];
  assert.deepEqual(await compareServers(real, hangar, steps), []);
});

test('who may get a stream of a pod does not open it', async () => {
  const pod = { metadata: { name: 'run' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const pods = '/api/v1/namespaces/default/pods';
  const steps: Step[] = [
    { method: 'POST', path: pods, body: pod, codeOnly: true },
    ...['exec?command=sh', 'attach', 'portforward?ports=80'].flatMap((rest) => [
      { method: 'GET', path: `${pods}/run/${rest}`, token },
      { method: 'POST', path: `${pods}/run/${rest}`, token },
      { method: 'GET', path: `${pods}/run/${rest}` },
    ]),
  ];
  assert.deepEqual(await compareServers(real, hangar, steps), []);
});

test('claims of devices need more than the right to write them', async () => {
  const request = (adminAccess?: boolean) => ({
    name: 'r',
    exactly: { deviceClassName: 'x.example.com', ...(adminAccess ? { adminAccess } : {}) },
  });
  const claim = (name: string, adminAccess?: boolean) => ({
    metadata: { name },
    spec: { devices: { requests: [request(adminAccess)] } },
  });
  const results = [{ request: 'r', driver: 'x.example.com', pool: 'p', device: 'd' }];
  const status = (value: object): Partial<Step> => ({
    method: 'PATCH',
    path: `${claims}/own/status`,
    body: { status: value },
    contentType: merge,
  });
  const device = { driver: 'x.example.com', pool: 'p', device: 'd' };
  const labelled = { 'resource.kubernetes.io/admin-access': 'true' };
  const steps = [
    { method: 'POST', path: claims, body: claim('strong', true) },
    {
      method: 'POST',
      path: claims.replace(/s$/, 'templates'),
      body: { metadata: { name: 'strong' }, spec: { spec: claim('', true).spec } },
    },
    { method: 'POST', path: claims, body: claim('own') },
    { ...status({ allocation: { devices: { results } } }), token },
    { ...status({ allocation: { devices: { results: [{ ...results[0], adminAccess: true }] } } }) },
    { ...status({ allocation: { devices: { results } } }) },
    { ...status({ reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }] }), token },
    { ...status({ devices: [{ ...device, data: { a: 1 } }] }), token },
    { ...status({ devices: [{ ...device, data: { a: 1 } }] }) },
    { ...status({ devices: [{ ...device, data: { a: 1 } }] }), token },
    { ...status({ devices: null }), token },
    {
      method: 'PATCH',
      codeOnly: true,
      path: '/api/v1/namespaces/default',
      body: { metadata: { labels: labelled } },
      contentType: merge,
    },
    { method: 'POST', path: claims, body: claim('strong', true) },
  ] as Step[];
  assert.deepEqual(await compareServers(real, hangar, steps), []);
});
