/** Every connection between the parties of a management cluster, compared with the table in v1/network-policies.ts. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetworkPolicy } from '@hangar/client/kinds/networking-v1';
import { planeOf, renderAll, renderings } from './index.ts';
import type { Component, KonnectivityPolicy, Plane } from './index.ts';
import { hostedControlPlane } from './testing/planes.ts';
import { isAllowed } from './testing/network-policies.ts';
import type { PolicyEndpoint, PolicyPod } from './testing/network-policies.ts';

const components: readonly Component[] = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];

/** All ports of components, and others that must be closed. */
const ports = {
  'etcd clients': 2379,
  'etcd peers': 2380,
  'etcd metrics': 2381,
  'API port': 6443,
  'konnectivity agents': 8132,
  'konnectivity admin': 8133,
  'konnectivity health': 8134,
  'controller manager': 10_257,
  scheduler: 10_259,
  other: 8080,
} as const;

const planeNamed = (name: string, konnectivity: KonnectivityPolicy = 'always', port?: number): Plane => {
  const endpoint = port === undefined ? {} : { controlPlaneEndpoint: { host: '192.0.2.1', port } };
  const object = hostedControlPlane(endpoint);
  return planeOf(
    { ...object, metadata: { ...object.metadata, name } },
    { name, serviceType: 'ClusterIP', konnectivity },
  );
};

const rendered = (plane: Plane) => renderAll(renderings.get('1')!, plane, {}).map(({ object }) => object);
const policiesOf = (plane: Plane): NetworkPolicy[] =>
  rendered(plane).filter(({ kind }) => kind === 'NetworkPolicy') as NetworkPolicy[];

interface Workload {
  readonly spec: { readonly template: { readonly metadata: { readonly labels: Record<string, string> } } };
}

/** The pods of a plane with the labels of their templates. */
function podsOf(plane: Plane, prefix: string, namespace = plane.namespace): [string, PolicyPod][] {
  const workloads = rendered(plane).filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet');
  return workloads.map((object) => {
    const { labels } = (object as unknown as Workload).spec.template.metadata;
    return [`${prefix}${labels['app.kubernetes.io/component']}`, { namespace, labels, address: '10.0.0.1' }];
  });
}

const strangers: [string, PolicyEndpoint][] = [
  ['operator', pod('system', { 'cluster.x-k8s.io/provider': 'control-plane-hosted-control-plane' })],
  ['another provider', pod('system', { 'cluster.x-k8s.io/provider': 'infrastructure-example' })],
  ['a pod of the namespace', pod('team', { app: 'web' })],
  ['a pod of another namespace', pod('other', { app: 'web' })],
  ['outside', { address: '198.51.100.7' }],
];

function pod(namespace: string, labels: Record<string, string>): PolicyPod {
  return { namespace, labels, address: '10.0.0.9' };
}

/** Returns the allowed connections to pods of `plane`, as `from → to: ports`. All others are denied. */
function allowed(plane: Plane, others: readonly Plane[] = []): string[] {
  const policies = [plane, ...others].flatMap(policiesOf);
  const own = podsOf(plane, '');
  const sources: [string, PolicyEndpoint][] = [
    ...own,
    ...others.flatMap((other) => podsOf(other, `${other.name}: `)),
    // The same name and the same labels, in a namespace without policies.
    ...podsOf(plane, 'elsewhere: ', 'elsewhere'),
    ...strangers,
  ];
  const lines: string[] = [];
  for (const [from, source] of sources) {
    for (const [to, target] of own) {
      const open = Object.entries(ports).filter(([, port]) =>
        isAllowed({ policies }, { from: source, to: target, port }),
      );
      if (open.length > 0) lines.push(`${from} → ${to}: ${open.map(([name]) => name).join(', ')}`);
    }
  }
  return lines;
}

/** Sources that may connect to the API servers of a plane although they do not belong to it. */
const everyone = (portNames: string) =>
  strangers.map(([name]) => name).map((from) => `${from} → kube-apiserver: ${portNames}`);
const elsewhere = (portNames: string) => components.map((from) => `elsewhere: ${from} → kube-apiserver: ${portNames}`);
const inside = (portNames: string): string[] => [
  'etcd → etcd: etcd clients, etcd peers',
  'kube-apiserver → etcd: etcd clients',
  `kube-apiserver → kube-apiserver: ${portNames}`,
  'kube-controller-manager → kube-apiserver: API port',
  'kube-scheduler → kube-apiserver: API port',
];
const operator = 'operator → etcd: etcd clients';
const sameSet = (actual: readonly string[], expected: readonly string[]): void =>
  assert.deepEqual(actual.toSorted(), expected.toSorted());

test('a control plane allows exactly the connections of the table', () => {
  const open = 'API port, konnectivity agents';
  sameSet(allowed(planeNamed('demo')), [...inside(open), ...everyone(open), ...elsewhere(open), operator]);
});

test('without konnectivity the ports of its agents are closed', () => {
  const open = 'API port';
  sameSet(allowed(planeNamed('demo', 'requested')), [...inside(open), ...everyone(open), ...elsewhere(open), operator]);
});

test('control planes of one namespace reach only the API servers of each other, also if a name is a prefix', () => {
  const open = 'API port, konnectivity agents';
  const names = ['demo', 'demo-etcd', 'dem'];
  for (const name of names) {
    const others = names.filter((one) => one !== name);
    const expected = [
      ...inside(open),
      ...everyone(open),
      ...elsewhere(open),
      operator,
      // Only API servers may connect to any address: webhooks, issuers and kubelets can be anywhere.
      ...others.map((other) => `${other}: kube-apiserver → kube-apiserver: ${open}`),
    ];
    sameSet(
      allowed(
        planeNamed(name),
        others.map((other) => planeNamed(other)),
      ),
      expected,
    );
  }
});

test('the port of the endpoint is open where the API server listens on it, and 6443 is closed', () => {
  const plane = planeNamed('demo', 'requested', 30_123);
  const policies = policiesOf(plane);
  const [, apiServer] = podsOf(plane, '').find(([name]) => name === 'kube-apiserver')!;
  const [, scheduler] = podsOf(plane, '').find(([name]) => name === 'kube-scheduler')!;
  const reaches = (port: number) => isAllowed({ policies }, { from: scheduler, to: apiServer, port });
  assert.deepEqual([reaches(30_123), reaches(6443)], [true, false]);
});

test('components leave the control plane only for DNS, API servers for everything', () => {
  const plane = planeNamed('demo');
  const policies = policiesOf(plane);
  const dns = pod('kube-system', { 'k8s-app': 'kube-dns' });
  const outside = { address: '198.51.100.7' };
  const reach = podsOf(plane, '').map(([name, from]) => {
    const reaches = (to: PolicyEndpoint, port: number, protocol: 'TCP' | 'UDP') =>
      isAllowed({ policies }, { from, to, port, protocol });
    const [udp, tcp] = [reaches(dns, 53, 'UDP'), reaches(dns, 53, 'TCP')];
    return [name, udp, tcp, reaches(outside, 443, 'TCP'), reaches(dns, 443, 'TCP')];
  });
  sameSet(
    reach.map((one) => one.join(' ')),
    [
      'etcd true true false false',
      'kube-apiserver true true true true',
      'kube-controller-manager true true false false',
      'kube-scheduler true true false false',
    ],
  );
});
