/** A hosted control plane from its creation to its upgrade, with a management cluster in this process. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { ConfigMap, Secret, Service } from '@hangar/client/kinds/core-v1';
import { ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { findCondition, isControlledBy } from '@hangar/runtime';
import { annotations, clusterNameLabel, clusterSecretType, HostedControlPlane } from '../api/index.ts';
import { textIn } from '../pki/secrets.ts';
import { namespace, startTestPlatform } from '../testing/platform.ts';
import { until, untilObject, untilReady, untilReason } from '../testing/until.ts';
import { phases } from './conditions.ts';

const key = { namespace, name: 'demo' };
const create = (client: Parameters<typeof untilReady>[0], spec: Partial<HostedControlPlane['spec']> = {}) =>
  client.create(HostedControlPlane, { metadata: { ...key }, spec: { version: 'v1.36.4', replicas: 3, ...spec } });
const imageOf = (deployment: Deployment): string => deployment.spec!.template.spec!.containers[0]!.image!;

test('a minimal control plane becomes ready, and causes no writes afterwards, also after a restart', async () => {
  await using platform = await startTestPlatform();
  const operator = platform.start();
  const { client } = platform;
  await create(client);
  const { status, spec, metadata } = await untilReady(client);
  assert.deepEqual(spec.controlPlaneEndpoint, { host: 'apiserver-demo.team.svc', port: 6443 });
  assert.equal(metadata.annotations?.[annotations.rendering], '1');
  const { conditions = [], ...rest } = status!;
  assert.deepEqual(rest, {
    selector: 'cluster.x-k8s.io/cluster-name=demo,app.kubernetes.io/component=kube-apiserver',
    replicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    upToDateReplicas: 3,
    updatedReplicas: 3,
    unavailableReplicas: 0,
    initialization: { controlPlaneInitialized: true },
    initialized: true,
    ready: true,
    version: 'v1.36.4',
    rendering: '1',
    etcdVolumeSize: '8Gi',
    externalManagedControlPlane: true,
    observedGeneration: metadata.generation,
  });
  const contract = ['Available', 'RollingOut', 'ScalingUp', 'ScalingDown', 'Paused'];
  assert.deepEqual(
    conditions.map(({ type }) => type),
    [...phases, 'Ready', ...contract, 'CertificatesRotating'],
  );
  assert.deepEqual(
    contract.map((type) => findCondition(conditions, type)!.status),
    ['True', 'False', 'False', 'False', 'False'],
  );
  await platform.quiet();
  platform.forget();
  await client.patch(HostedControlPlane, key, { type: 'merge', body: { metadata: { labels: { touched: 'yes' } } } });
  await platform.quiet();
  await operator.stop();
  platform.start();
  await platform.quiet();
  assert.deepEqual(platform.writes, []);
  assert.deepEqual(
    platform.requests.filter((one) => one.includes('inside')),
    [],
  );
});

test('Secrets have the names, type, label and owner of the contract', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await create(client);
  const ready = await untilReady(client);
  for (const suffix of ['ca', 'etcd', 'proxy', 'sa', 'kubeconfig']) {
    const secret = await client.get(Secret, { namespace, name: `demo-${suffix}` });
    assert.equal(secret.type, clusterSecretType);
    assert.equal(secret.metadata.labels?.[clusterNameLabel], 'demo');
    assert.ok(isControlledBy(secret, ready));
    const keys = suffix === 'kubeconfig' ? ['value'] : ['tls.crt', 'tls.key'];
    assert.deepEqual(Object.keys(secret.data!).sort(), keys);
  }
  const kubeconfig = textIn(await client.get(Secret, { namespace, name: 'demo-kubeconfig' }), 'value');
  assert.match(kubeconfig, /server: https:\/\/apiserver-demo\.team\.svc:6443/);
});

test('inside there are the objects that joining nodes expect', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  await create(platform.client);
  await untilReady(platform.client);
  const { inside } = platform;
  const info = await inside.get(ConfigMap, { namespace: 'kube-public', name: 'cluster-info' });
  assert.match(info.data!['kubeconfig']!, /https:\/\/apiserver-demo\.team\.svc:6443/);
  const config = await inside.get(ConfigMap, { namespace: 'kube-system', name: 'kubelet-config' });
  assert.match(config.data!['kubelet']!, /^clusterDNS:\n- 10\.96\.0\.10$/m);
  await inside.get(ConfigMap, { namespace: 'kube-system', name: 'kubeadm-config' });
  const { roleRef } = await inside.get(ClusterRoleBinding, { name: 'kubeadm:kubelet-bootstrap' });
  assert.equal(roleRef.name, 'system:node-bootstrapper');
});

test('controllers are never ahead of the API servers, and the version is that of a complete roll-out', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client, workloads } = platform;
  await create(client, { version: 'v1.35.3' });
  await untilReady(client);
  workloads.holdBack = /apiserver/;
  await client.patch(HostedControlPlane, key, { type: 'merge', body: { spec: { version: 'v1.36.4' } } });
  const rolling = await untilReason(client, 'APIServerDeploymentsReady', 'DeploymentRollingOut');
  await platform.quiet();
  assert.equal(rolling.status!.version, 'v1.35.3');
  const get = (name: string) => client.get(Deployment, { namespace, name: `demo-${name}` });
  assert.match(imageOf(await get('apiserver')), /:v1\.36\.4$/);
  assert.match(imageOf(await get('controller-manager')), /:v1\.35\.3$/);
  assert.match(imageOf(await get('scheduler')), /:v1\.35\.3$/);
  workloads.holdBack = undefined;
  await workloads.refresh();
  const done = await untilReady(client);
  assert.equal(done.status!.version, 'v1.36.4');
  assert.match(imageOf(await get('controller-manager')), /:v1\.36\.4$/);
});

test('at the first start, API servers follow a quorum of etcd, and controllers follow the first API server', async () => {
  await using platform = await startTestPlatform();
  const { client, workloads } = platform;
  workloads.holdBack = /etcd/;
  workloads.ready.set('demo-etcd', 2).set('demo-apiserver', 1);
  platform.start();
  await create(client);
  await untilReason(client, 'EtcdClusterReady', 'MembersNotReady');
  await platform.quiet();
  assert.deepEqual((await client.list(Deployment, { namespace })).items, []);
  workloads.holdBack = undefined;
  await workloads.refresh();
  await untilObject(client, Deployment, 'demo-controller-manager', ({ status }) => status?.availableReplicas === 2);
  const { status } = await untilReason(client, 'EtcdClusterReady', 'MembersNotReady');
  assert.equal(status!.version, undefined);
  workloads.ready.clear();
  await workloads.refresh();
  assert.equal((await untilReady(client)).status!.version, 'v1.36.4');
});

test('while etcd lacks members, nothing else is disrupted', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client, workloads } = platform;
  await create(client);
  await untilReady(client);
  workloads.ready.set('demo-etcd', 2);
  await workloads.refresh();
  await untilReason(client, 'EtcdClusterReady', 'MembersNotReady');
  const args = { v: '4' };
  await client.patch(HostedControlPlane, key, {
    type: 'merge',
    body: { spec: { deployment: { apiServer: { args } } } },
  });
  await platform.quiet();
  const get = () => client.get(Deployment, { namespace, name: 'demo-apiserver' });
  assert.ok(!(await get()).spec!.template.spec!.containers[0]!.args!.includes('--v=4'));
  workloads.ready.clear();
  await workloads.refresh();
  await untilReady(client);
  assert.ok((await get()).spec!.template.spec!.containers[0]!.args!.includes('--v=4'));
});

test('a quorum that is lost is reported, nothing is deleted, and the control plane recovers', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client, workloads } = platform;
  await create(client);
  await untilReady(client);
  platform.forget();
  workloads.ready.set('demo-etcd', 1);
  await workloads.refresh();
  const lost = await untilReason(client, 'EtcdClusterReady', 'QuorumLost');
  assert.equal(lost.status!.initialized, true);
  assert.match(findCondition(lost.status!.conditions, 'Ready')!.message, /1 of 3 etcd members are ready/);
  assert.deepEqual(
    platform.writes.filter((one) => one.startsWith('DELETE')),
    [],
  );
  workloads.ready.clear();
  await workloads.refresh();
  await untilReady(client);
});

test('changes of others are reverted', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await create(client);
  await untilReady(client);
  await client.patch(
    Deployment,
    { namespace, name: 'demo-scheduler' },
    { type: 'merge', body: { spec: { replicas: 7 } } },
  );
  await untilObject(client, Deployment, 'demo-scheduler', ({ spec }) => spec?.replicas === 2);
  await client.delete(Service, { namespace, name: 'etcd-demo' });
  await untilObject(client, Service, 'etcd-demo', () => true);
  await untilReady(client);
});

test('scaling changes the API servers only, and is reported while it happens', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client, workloads } = platform;
  await create(client);
  await untilReady(client);
  workloads.holdBack = /apiserver/;
  await client.subresource('scale').patch(HostedControlPlane, key, { type: 'merge', body: { spec: { replicas: 1 } } });
  await until(client, 'demo', ({ status }) => findCondition(status?.conditions, 'ScalingDown')?.status === 'True');
  workloads.holdBack = undefined;
  await workloads.refresh();
  const { status } = await untilReady(client);
  assert.equal(status!.replicas, 1);
  assert.equal((await client.get(StatefulSet, { namespace, name: 'demo-etcd' })).spec!.replicas, 3);
});

test('a paused control plane is not changed until it is resumed', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(HostedControlPlane, {
    metadata: { ...key, annotations: { 'cluster.x-k8s.io/paused': '' } },
    spec: { version: 'v1.36.4' },
  });
  await until(client, 'demo', ({ status }) => findCondition(status?.conditions, 'Paused')?.status === 'True');
  assert.deepEqual((await client.list(Secret, { namespace })).items, []);
  const body = { metadata: { annotations: { 'cluster.x-k8s.io/paused': null } } };
  await client.patch(HostedControlPlane, key, { type: 'merge', body });
  const { status } = await untilReady(client);
  assert.equal(findCondition(status!.conditions, 'Paused')!.status, 'False');
});
