/** The whole life of a dedicated control plane, with a double of the operator of hosted control planes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configOfKubeconfig, find } from '@hangar/client';
import { ConfigMap, Namespace, Secret, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { findCondition } from '@hangar/runtime';
import { X509Certificate } from 'node:crypto';
import { ControlPlane, ControlPlaneClass } from '../api/index.ts';
import type { ControlPlaneSpec } from '../api/index.ts';
import { textOf } from '../control-plane/kept-secret.ts';
import { Tenant } from '../host/index.ts';
import { startTestPlatform } from '../testing/platform.ts';
import { until, untilGone, untilReady, untilReason } from '../testing/until.ts';
import { HostedControlPlane, HostedControlPlaneTemplate } from './hosted-control-plane.ts';
import { startDedicatedPlatform } from './testing/dedicated-platform.ts';

const dedicated: ControlPlaneSpec = { mode: 'Dedicated', deletionPolicy: 'Destroy' };
const key = { namespace: 'kplane-cp-big', name: 'big' };

test('a dedicated control plane has a kubeconfig, join credentials and the addons of its class', async () => {
  await using the = await startDedicatedPlatform();
  const { client } = the;
  the.platform.start();
  await client.create(ControlPlaneClass, {
    metadata: { name: 'gold' },
    spec: { addons: ['starter', 'coredns'], deletionPolicy: 'Destroy', dedicated: { version: 'v1.35.0', replicas: 3 } },
  });
  await client.create(ControlPlane, {
    metadata: { name: 'big' },
    spec: { mode: 'Dedicated', classRef: { name: 'gold' } },
  });
  const { status } = await untilReady(client, 'big');
  const hosted = await client.get(HostedControlPlane, key);
  assert.equal(hosted.metadata.annotations!['hosted.hangar.dev/standalone'], 'true');
  assert.equal(hosted.metadata.ownerReferences![0]!.name, 'big');
  assert.deepEqual([hosted.spec!.version, hosted.spec!.replicas], ['v1.35.0', 3]);
  assert.equal(status!.endpoint, 'https://big.hosted.test:6443');
  assert.deepEqual(
    status!.endpoints!.map(({ type }) => type),
    ['Internal', 'External', 'Join'],
  );
  const applied = findCondition(status!.conditions, 'AddonsApplied')!;
  // CoreDNS is an addon of the HostedControlPlane itself.
  assert.deepEqual([applied.status, applied.message], ['True', 'starter']);
  assert.equal(findCondition(status!.conditions, 'HostedControlPlaneReady')!.status, 'True');
  const inside = await the.hosted.inside('big');
  await inside.get(ConfigMap, { namespace: 'kplane-system', name: 'welcome' });
  assert.equal(await find(inside, ConfigMap, { namespace: 'kube-system', name: 'kubeadm-config' }), undefined);

  const secret = await client.get(Secret, status!.kubeconfigSecretRef!);
  const config = await configOfKubeconfig(textOf(secret, 'kubeconfig'));
  const pair = await config.credentials!.clientCertificate!();
  assert.match(new X509Certificate(pair!.certificate).subject, /CN=controlplane-admin/);
  const binding = await inside.get(ClusterRoleBinding, { name: 'controlplane-admin' });
  assert.equal(binding.subjects![0]!.kind, 'User');

  const join = await client.get(Secret, { namespace: key.namespace, name: 'controlplane-big-join' });
  assert.match(
    textOf(join, 'command'),
    /^kubeadm join big\.hosted\.test:6443 --token \S+ --discovery-token-ca-cert-hash /,
  );
  assert.match(textOf(join, 'kubelet.yaml'), /10\.96\.0\.10/);
  assert.doesNotMatch(textOf(join, 'kubelet.yaml'), /serverTLSBootstrap: true|"serverTLSBootstrap":true/);
  const [id] = textOf(join, 'token').split('.');
  await inside.get(Secret, { namespace: 'kube-system', name: `bootstrap-token-${id}` });
  assert.equal(await find(client, Tenant, { name: 'big' }), undefined);

  // A stable control plane causes no writes, also after a restart.
  await the.platform.quiet();
  the.platform.forget();
  the.platform.start();
  await the.platform.quiet();
  assert.deepEqual(the.platform.writes, []);
});

test('credentials by token belong to a ServiceAccount inside', async () => {
  await using the = await startDedicatedPlatform();
  const { client } = the;
  the.platform.start();
  const spec = { auth: { model: 'token' }, deletionPolicy: 'Destroy' as const };
  await client.create(ControlPlaneClass, { metadata: { name: 'tokens' }, spec });
  await client.create(ControlPlane, {
    metadata: { name: 'big' },
    spec: { mode: 'Dedicated', classRef: { name: 'tokens' } },
  });
  const { status } = await untilReady(client, 'big');
  const secret = await client.get(Secret, status!.kubeconfigSecretRef!);
  assert.match(textOf(secret, 'kubeconfig'), /token: /);
  const inside = await the.hosted.inside('big');
  await inside.get(ServiceAccount, { namespace: 'kplane-system', name: 'controlplane-admin' });
});

test('the template of the parameters is the base of the HostedControlPlane, and its changes are applied', async () => {
  await using the = await startDedicatedPlatform();
  const { client } = the;
  the.platform.start();
  const parametersRef = {
    apiGroup: 'controlplane.cluster.x-k8s.io',
    kind: 'HostedControlPlaneTemplate',
    name: 'large',
  };
  const spec = { ...dedicated, dedicated: { version: 'v1.34.2', parametersRef } };
  await client.create(ControlPlane, { metadata: { name: 'big' }, spec });
  await untilReason(client, 'big', 'ParametersNotFound', 'Accepted');
  await client.create(Namespace, { metadata: { name: 'kplane-system' } });
  const template = (storage: string) => ({ template: { spec: { etcd: { storage }, coredns: { replicas: 2 } } } });
  const metadata = { namespace: 'kplane-system', name: 'large' };
  await client.create(HostedControlPlaneTemplate, { metadata, spec: template('1Gi') });
  await untilReady(client, 'big');
  const etcdOf = (one: unknown): object | undefined => (one as { spec?: { etcd?: object } } | undefined)?.spec?.etcd;
  const made = await client.get(HostedControlPlane, key);
  assert.deepEqual(etcdOf(made), { storage: '1Gi' });
  assert.equal(made.spec!.version, 'v1.34.2');
  await client.patch(HostedControlPlaneTemplate, metadata, { type: 'merge', body: { spec: template('2Gi') } });
  await until(
    client,
    HostedControlPlane,
    'big',
    (one) => JSON.stringify(etcdOf(one)) === '{"storage":"2Gi"}',
    key.namespace,
  );
});

test('a version that is changed is that of the HostedControlPlane, and the default does not change an existing one', async () => {
  await using the = await startDedicatedPlatform();
  const { client } = the;
  the.platform.start();
  await client.create(ControlPlane, {
    metadata: { name: 'big' },
    spec: { ...dedicated, dedicated: { version: 'v1.35.0' } },
  });
  await untilReady(client, 'big');
  const version = (wanted: string | null) => ({
    type: 'merge' as const,
    body: { spec: { dedicated: { version: wanted } } },
  });
  await client.patch(ControlPlane, { name: 'big' }, version(null));
  await untilReady(client, 'big');
  assert.equal((await client.get(HostedControlPlane, key)).spec!.version, 'v1.35.0');
  await client.patch(ControlPlane, { name: 'big' }, version('v1.36.4'));
  await until(client, HostedControlPlane, 'big', (one) => one?.spec?.version === 'v1.36.4', key.namespace);
});

test('a HostedControlPlane that is not initialized is waited for', async () => {
  await using the = await startDedicatedPlatform({ holdBack: /big/ });
  const { client } = the;
  the.platform.start();
  await client.create(ControlPlane, { metadata: { name: 'big' }, spec: dedicated });
  const { status } = await untilReason(client, 'big', 'HostedControlPlanePending', 'Programmed');
  assert.equal(status!.phase, 'Provisioning');
  assert.equal(status!.kubeconfigSecretRef, undefined);
});

test('API servers that are not available make the control plane not ready, until they are', async () => {
  await using the = await startDedicatedPlatform();
  const { client } = the;
  the.platform.start();
  await client.create(ControlPlane, { metadata: { name: 'big' }, spec: dedicated });
  await untilReady(client, 'big');
  const { status } = await client.get(HostedControlPlane, key);
  const set = (is: 'True' | 'False') => {
    const conditions = status!.conditions!.map((one) => (one.type === 'Available' ? { ...one, status: is } : one));
    return client.status.patch(HostedControlPlane, key, { type: 'merge', body: { status: { conditions } } });
  };
  await set('False');
  await untilReason(client, 'big', 'HostedControlPlaneUnavailable');
  await set('True');
  await untilReady(client, 'big');
});

test('a destroyed control plane leaves nothing', async () => {
  await using the = await startDedicatedPlatform();
  const { client } = the;
  the.platform.start();
  await client.create(ControlPlane, { metadata: { name: 'big' }, spec: dedicated });
  await untilReady(client, 'big');
  await client.delete(ControlPlane, { name: 'big' });
  await untilGone(client, ControlPlane, 'big');
  await untilGone(client, Namespace, key.namespace);
  assert.deepEqual((await client.list(HostedControlPlane)).items, []);
});

test('without migrations a change of the mode has no effect, in either direction', async () => {
  await using the = await startDedicatedPlatform();
  const { client } = the;
  the.platform.start();
  for (const [name, mode, other] of [
    ['big', 'Dedicated', 'Virtual'],
    ['small', 'Virtual', 'Dedicated'],
  ] as const) {
    await client.create(ControlPlane, { metadata: { name }, spec: { mode, deletionPolicy: 'Destroy' } });
    await untilReady(client, name);
    const to = (wanted: string) => ({ type: 'merge' as const, body: { spec: { mode: wanted } } });
    await client.patch(ControlPlane, { name }, to(other));
    const { status } = await untilReason(client, name, 'MigrationNotAvailable', 'ModeReached');
    assert.equal(findCondition(status!.conditions, 'Ready')!.status, 'True');
    assert.equal((await find(client, Tenant, { name })) !== undefined, mode === 'Virtual');
    const hosted = await find(client, HostedControlPlane, { namespace: `kplane-cp-${name}`, name });
    assert.equal(hosted !== undefined, mode === 'Dedicated');
    await client.patch(ControlPlane, { name }, to(mode));
    await until(client, ControlPlane, name, (one) => !findCondition(one?.status?.conditions, 'ModeReached'));
    // Also with the other mode in its spec, a deleted control plane leaves nothing.
    await client.patch(ControlPlane, { name }, to(other));
    await client.delete(ControlPlane, { name });
    await untilGone(client, ControlPlane, name);
  }
  assert.deepEqual((await client.list(HostedControlPlane)).items, []);
  assert.deepEqual((await client.list(Tenant)).items, []);
});

test('without HostedControlPlanes the mode is not available, and nothing is made', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(ControlPlane, { metadata: { name: 'big' }, spec: dedicated });
  const refused = await untilReason(client, 'big', 'DedicatedNotAvailable', 'Accepted');
  assert.match(findCondition(refused.status!.conditions, 'Accepted')!.message, /hangar up --hosted/);
  assert.equal(refused.metadata.finalizers, undefined);
  assert.equal(await find(client, Namespace, { name: key.namespace }), undefined);
  await client.delete(ControlPlane, { name: 'big' });
  await untilGone(client, ControlPlane, 'big');
});

test('what only virtual control planes support is refused', async () => {
  await using the = await startDedicatedPlatform();
  const { client } = the;
  the.platform.start();
  const typed = { apiGroup: 'example.com', kind: 'Thing', name: 'a' };
  const table: [string, ControlPlaneSpec, string][] = [
    ['a', { ...dedicated, endpointPolicy: { provider: 'other' } }, 'EndpointNotSupported'],
    ['c', { ...dedicated, dedicated: { providerRef: typed } }, 'ProviderNotSupported'],
    ['d', { ...dedicated, dedicated: { parametersRef: typed } }, 'ParametersNotSupported'],
    ['e'.repeat(48), dedicated, 'InvalidName'],
  ];
  for (const [name, spec, reason] of table) {
    await client.create(ControlPlane, { metadata: { name }, spec });
    await untilReason(client, name, reason, 'Accepted');
  }
  assert.deepEqual((await client.list(HostedControlPlane)).items, []);
});
