/** Services get, keep and release addresses and ports exactly as with a real kube-apiserver. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import { compareServers } from '../testing/both-servers.ts';
import type { Step } from '../testing/both-servers.ts';
import { startInProcess } from '../testing/in-process.ts';
import type { InProcessServer } from '../testing/in-process.ts';
import { objectKey } from '../control-plane.ts';

const services = '/api/v1/namespaces/default/services';
const merge = 'application/merge-patch+json';
const port = { port: 80 };

const service = (name: string, spec: object): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { ports: [port], ...spec },
});
const create = (name: string, spec: object, rest: Partial<Step> = {}): Step => ({
  method: 'POST',
  path: services,
  body: service(name, spec),
  ...rest,
});
const change = (name: string, spec: object, rest: Partial<Step> = {}): Step => ({
  method: 'PATCH',
  path: `${services}/${name}`,
  body: { spec },
  contentType: merge,
  ...rest,
});
const remove = (name: string, rest: Partial<Step> = {}): Step => ({
  method: 'DELETE',
  path: `${services}/${name}`,
  ...rest,
});
/** Chosen at random. */
const picked = ['spec.clusterIP', 'spec.clusterIPs', 'spec.ports.0.nodePort', 'spec.healthCheckNodePort'];
const anyValue = { ignore: picked };

const steps: readonly Step[] = [
  create('plain', {}, { ...anyValue, keep: { plain: 'spec.clusterIP' } }),
  create('asked', { clusterIP: '10.0.0.5' }),
  create('again', { clusterIP: '10.0.0.5' }),
  create('twice', { clusterIP: '{{plain}}' }),
  create('outside', { clusterIP: '10.1.0.5' }),
  create('network', { clusterIP: '10.0.0.0' }),
  create('broadcast', { clusterIP: '10.0.0.255' }),
  create('broken', { clusterIP: '10.0.0.500' }),
  create('six', { clusterIP: 'fd00::5' }),
  create('six-family', { ipFamilies: ['IPv6'] }),
  create('both', { ipFamilyPolicy: 'RequireDualStack' }),
  create('prefers', { ipFamilyPolicy: 'PreferDualStack' }, anyValue),
  create('two-single', { ipFamilies: ['IPv4', 'IPv6'] }),
  create('headless', { clusterIP: 'None' }),
  create('headless-selected', { clusterIP: 'None', selector: { a: 'b' } }),
  create('name', { type: 'ExternalName', externalName: 'example.com', ports: undefined }),
  create('no-name', { type: 'ExternalName' }),
  create('asked', { clusterIP: '10.0.0.6' }),
  { method: 'GET', path: '/apis/networking.k8s.io/v1/ipaddresses/10.0.0.5', ignore: ['metadata.managedFields'] },
  { method: 'GET', path: '/apis/networking.k8s.io/v1/ipaddresses/10.0.0.6', ignore: ['metadata.managedFields'] },
  create('dry', {}, { path: `${services}?dryRun=All` }),
  create('dry-asked', { clusterIP: '10.0.0.5' }, { path: `${services}?dryRun=All` }),
  create('dry-outside', { clusterIP: '10.1.0.5' }, { path: `${services}?dryRun=All` }),
  create('dry-ports', { type: 'NodePort', ports: [port, { port: 81, name: 'b' }] }, { path: `${services}?dryRun=All` }),
  create(
    'dry-two',
    {
      type: 'NodePort',
      ports: [
        { port: 80, name: 'a' },
        { port: 81, name: 'b' },
      ],
    },
    { path: `${services}?dryRun=All` },
  ),
  create('dry-balancer', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }, { path: `${services}?dryRun=All` }),
  create('node', { type: 'NodePort' }, { ...anyValue, keep: { nodePort: 'spec.ports.0.nodePort' } }),
  create('node-asked', { type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] }, anyValue),
  create('node-again', { type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] }),
  create('node-outside', { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] }),
  create(
    'node-shared',
    {
      type: 'NodePort',
      ports: [
        { name: 'a', port: 53, protocol: 'TCP', nodePort: 30053 },
        { name: 'b', port: 53, protocol: 'UDP' },
      ],
    },
    anyValue,
  ),
  create('node-on-cluster', { ports: [{ port: 80, nodePort: 30090 }] }),
  create('dry-node', { type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] }, { path: `${services}?dryRun=All` }),
  create('balancer', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }, anyValue),
  create('balancer-no-ports', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false }, anyValue),
  create('balancer-health', {
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 30080,
  }),
  create(
    'balancer-health-asked',
    {
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 30099,
    },
    { ignore: picked.slice(0, 3) },
  ),
  change('plain', { type: 'NodePort' }, anyValue),
  change('plain', { type: 'ClusterIP' }, anyValue),
  change('plain', { type: 'LoadBalancer' }, anyValue),
  change('plain', { type: 'ExternalName', externalName: 'example.com' }),
  { method: 'GET', path: '/apis/networking.k8s.io/v1/ipaddresses/{{plain}}', ignore: ['metadata.managedFields'] },
  change('plain', { type: 'ClusterIP', externalName: null }, anyValue),
  change('asked', { clusterIP: '10.0.0.7' }),
  change('asked', { clusterIP: '' }),
  change('asked', { clusterIP: null, clusterIPs: null }),
  change('asked', { clusterIP: 'None' }),
  change('asked', { ipFamilyPolicy: 'RequireDualStack' }),
  change('asked', { ipFamilyPolicy: 'PreferDualStack' }),
  change('headless', { clusterIP: '10.0.0.9' }),
  change('name', { type: 'ClusterIP', externalName: null, clusterIP: '10.0.0.5', ports: [port] }),
  change('name', { type: 'ClusterIP', externalName: null, clusterIP: '10.0.0.9', ports: [port] }),
  change('node-asked', { ports: [{ port: 80, nodePort: 30053 }] }),
  change('node-asked', { ports: [{ port: 80, nodePort: 30081 }] }, anyValue),
  create('node-released', { type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] }, anyValue),
  change('node-asked', {
    ports: [
      { name: 'a', port: 80, nodePort: 30082 },
      { name: 'b', port: 81, nodePort: 30082 },
    ],
  }),
  change(
    'node-asked',
    {
      type: 'NodePort',
      ports: [
        { name: 'a', port: 80 },
        { name: 'b', port: 81 },
      ],
    },
    { codeOnly: true },
  ),
  change('balancer', { externalTrafficPolicy: 'Cluster' }, { ...anyValue }),
  change('balancer', { externalTrafficPolicy: 'Local', healthCheckNodePort: 30080 }, { ...anyValue }),
  remove('asked'),
  { method: 'GET', path: '/apis/networking.k8s.io/v1/ipaddresses/10.0.0.5' },
  create('asked-next', { clusterIP: '10.0.0.5' }),
  remove('node-released', anyValue),
  create('node-next', { type: 'NodePort', clusterIP: '10.0.0.10', ports: [{ port: 80, nodePort: 30080 }] }),
  // Allocations are released with the last finalizer.
  {
    method: 'POST',
    path: services,
    body: { ...service('kept', { clusterIP: '10.0.0.11' }), metadata: { name: 'kept', finalizers: ['a.b/c'] } },
  },
  remove('kept'),
  create('kept-early', { clusterIP: '10.0.0.11' }),
  { method: 'PATCH', path: `${services}/kept`, contentType: merge, body: { metadata: { finalizers: null } } },
  create('kept-next', { clusterIP: '10.0.0.11' }),
  // Endpoints are deleted with their service.
  {
    method: 'POST',
    path: '/api/v1/namespaces/default/endpoints',
    body: { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'kept-next' } },
  },
  remove('kept-next'),
  { method: 'GET', path: '/api/v1/namespaces/default/endpoints/kept-next' },
  // An update creates a missing object.
  { method: 'PUT', path: `${services}/put`, body: service('put', { clusterIP: '10.0.0.12' }) },
  { method: 'PUT', path: `${services}/put`, body: service('put', {}) },
  { method: 'PUT', path: `${services}/put-any`, body: service('put-any', {}), ...anyValue },
];

/** Steps in a dual-stack cluster. */
const dualStack: readonly Step[] = [
  create('plain', {}, { ...anyValue }),
  create('both', { ipFamilyPolicy: 'RequireDualStack' }, anyValue),
  create('prefers', { ipFamilyPolicy: 'PreferDualStack', clusterIP: '10.0.0.6' }, { ignore: ['spec.clusterIPs.1'] }),
  create('asked', { ipFamilyPolicy: 'RequireDualStack', clusterIP: '10.0.0.7', clusterIPs: ['10.0.0.7', 'fd00::7'] }),
  create('six-first', {
    ipFamilyPolicy: 'RequireDualStack',
    clusterIP: 'fd00::8',
    clusterIPs: ['fd00::8', '10.0.0.8'],
  }),
  create('six', { ipFamilies: ['IPv6'] }, anyValue),
  create('six-asked', { clusterIP: 'fd00::9' }),
  create('six-taken', { clusterIP: 'fd00:0::9' }),
  create('mismatch', { clusterIP: 'fd00::a', ipFamilies: ['IPv4'] }),
  create('two-single', { clusterIP: '10.0.0.11', clusterIPs: ['10.0.0.11', 'fd00::b'] }),
  create('two-single-stack', {
    clusterIPs: ['10.0.0.11', 'fd00::b'],
    clusterIP: '10.0.0.11',
    ipFamilyPolicy: 'SingleStack',
  }),
  create('same-family', {
    clusterIP: '10.0.0.11',
    clusterIPs: ['10.0.0.11', '10.0.0.12'],
    ipFamilyPolicy: 'RequireDualStack',
  }),
  create('headless', { clusterIP: 'None', ipFamilyPolicy: 'PreferDualStack', selector: { a: 'b' } }),
  create('dry', { ipFamilyPolicy: 'RequireDualStack' }, { path: `${services}?dryRun=All` }),
  create('upgraded', { clusterIP: '10.0.0.14' }),
  change('upgraded', { ipFamilyPolicy: 'RequireDualStack', clusterIPs: ['10.0.0.14', 'fd00::20'] }),
  change('upgraded', { clusterIPs: ['10.0.0.14'] }),
  change('upgraded', { ipFamilies: ['IPv4'] }),
  change('upgraded', { ipFamilyPolicy: 'SingleStack' }),
  { method: 'GET', path: '/apis/networking.k8s.io/v1/ipaddresses/fd00::20', ignore: ['metadata.managedFields'] },
  change(
    'upgraded',
    { ipFamilyPolicy: 'PreferDualStack' },
    { ignore: ['spec.clusterIPs.1'], keep: { second: 'spec.clusterIPs.1' } },
  ),
  change('upgraded', { ipFamilies: ['IPv6', 'IPv4'] }),
  change('upgraded', { type: 'ExternalName', externalName: 'example.com' }),
  { method: 'GET', path: '/apis/networking.k8s.io/v1/ipaddresses/10.0.0.14' },
  change(
    'upgraded',
    { type: 'ClusterIP', externalName: null, ipFamilyPolicy: 'RequireDualStack', clusterIP: '10.0.0.15' },
    {
      ignore: ['spec.clusterIPs.1'],
    },
  ),
  remove('asked'),
  { method: 'GET', path: '/apis/networking.k8s.io/v1/ipaddresses/10.0.0.7' },
  { method: 'GET', path: '/apis/networking.k8s.io/v1/ipaddresses/fd00::7' },
];

test('services of two families are given addresses as by kube-apiserver', async () => {
  await using real = await startRealServer(['--service-cluster-ip-range=10.0.0.0/24,fd00::/112']);
  await using hangar = await startInProcess();
  await addFamily(hangar, 'fd00::/112');
  assert.deepEqual(await compareServers(real, hangar, dualStack), []);
});

/** The families of a cluster are configured at setup, not by requests. */
async function addFamily({ plane, store }: InProcessServer, cidr: string): Promise<void> {
  const resource = plane.catalogue.find({ group: 'networking.k8s.io', version: 'v1', resource: 'servicecidrs' })!;
  const key = objectKey(plane, resource, '', 'kubernetes');
  const { entry } = await store.get(key);
  const object = resource.stored.object(entry!);
  (object['spec'] as { cidrs: string[] }).cidrs.push(cidr);
  await store.commit([{ type: 'put', key, value: resource.stored.encode(object) }]);
}

test('services are given addresses and ports as by kube-apiserver', async () => {
  await using real = await startRealServer();
  await using hangar = await startInProcess();
  assert.deepEqual(await compareServers(real, hangar, steps), []);
});
