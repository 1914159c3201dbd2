/** The types of built-in kinds, as a program uses them: what must not compile is marked so, and tsc checks the marks. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestCluster } from '@hangar/testkit';
import type { ApplyConfiguration, Draft } from '../client.ts';
import type { Kind, ObjectOf } from '../kind.ts';
import { Deployment } from './apps-v1.ts';
import { CustomResourceDefinition } from './apiextensions-v1.ts';
import { Lease } from './coordination-v1.ts';
import { ConfigMap, Namespace, Pod } from './core-v1.ts';
import type { Container, Service } from './core-v1.ts';

/** Compiles only when both are one type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <_ extends true>(): void => {};

const container: Container = { name: 'main', image: 'example.org/a', ports: [{ containerPort: 80, protocol: 'TCP' }] };

test('a kind answers objects of its type, and takes only such', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  const deployment = await client.create(Deployment, {
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } },
      strategy: { rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } },
    },
  });
  holds<Same<typeof deployment, Deployment>>();
  const replicas: number | undefined = deployment.spec?.replicas;
  assert.equal(replicas, 1);
  assert.equal(deployment.kind, 'Deployment');

  const { items } = await client.list(Deployment, { namespace: 'default' });
  assert.deepEqual(
    items.map(({ spec }) => spec?.template.spec?.containers[0]?.ports?.[0]?.protocol),
    ['TCP'],
  );
  const applied = await client.apply(
    ConfigMap,
    { metadata: { name: 'a', namespace: 'default' }, data: { key: 'value' } },
    { fieldManager: 'test' },
  );
  assert.equal(applied.data?.['key'], 'value');
  const lease = await client.create(Lease, {
    metadata: { name: 'a', namespace: 'default' },
    spec: { holderIdentity: 'me', renewTime: '2026-01-31T08:00:00.000000Z' },
  });
  assert.equal((await client.get(Lease, { name: 'a', namespace: 'default' })).spec?.holderIdentity, 'me');
  assert.equal(lease.apiVersion, 'coordination.k8s.io/v1');
});

test('what its schema does not have does not compile', () => {
  const draft = <T extends Draft<Pod>>(pod: T): T => pod;
  draft({ metadata: { name: 'a' }, spec: { containers: [container] } });
  draft({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } });
  // @ts-expect-error a pod without its metadata
  draft({ spec: { containers: [container] } });
  // @ts-expect-error another kind
  draft({ kind: 'Service', metadata: { name: 'a' } });
  // @ts-expect-error containers are required
  draft({ metadata: { name: 'a' }, spec: {} });
  // @ts-expect-error a protocol that there is not
  draft({ metadata: {}, spec: { containers: [{ name: 'a', ports: [{ containerPort: 1, protocol: 'HTTP' }] }] } });

  const applied = (part: ApplyConfiguration<Pod>): ApplyConfiguration<Pod> => part;
  applied({ metadata: { name: 'a' }, spec: { containers: [{ name: 'main', env: [{ name: 'A', value: '1' }] }] } });
  // @ts-expect-error a field that there is not
  applied({ metadata: { name: 'a' }, spec: { continers: [] } });
  // @ts-expect-error a number for a string
  applied({ spec: { containers: [{ name: 1 }] } });
  assert.ok(true);
});

test('a kind is a value and a type, told apart by the literals of its objects', () => {
  holds<Same<ObjectOf<typeof Pod>, Pod>>();
  const describe = (object: Pod | Service): string | undefined =>
    object.kind === 'Pod' ? object.spec?.nodeName : object.spec?.clusterIP;
  assert.equal(describe({ apiVersion: 'v1', kind: 'Service', metadata: {}, spec: { clusterIP: 'None' } }), 'None');
  const several: readonly Kind<Pod | Namespace | CustomResourceDefinition>[] = [
    Pod,
    Namespace,
    CustomResourceDefinition,
  ];
  assert.deepEqual(
    several.map(({ plural, isNamespaced }) => [plural, isNamespaced]),
    [
      ['pods', true],
      ['namespaces', false],
      ['customresourcedefinitions', false],
    ],
  );
});
