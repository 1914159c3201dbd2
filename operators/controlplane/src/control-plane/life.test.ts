/** A control plane from its creation to its deletion, on a platform in this process. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find } from '@hangar/client';
import { ConfigMap, Namespace, Secret, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { SelfSubjectReview } from '@hangar/client/kinds/authentication-v1';
import { ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { hasFinalizer, isControlledBy } from '@hangar/runtime';
import { ControlPlane, ControlPlaneEndpoint, finalizer, labels, managementNamespace } from '../api/index.ts';
import { Tenant } from '../host/index.ts';
import { adminOf } from '../testing/admin.ts';
import { granted } from '../testing/granted.ts';
import { internalUrl, startTestPlatform } from '../testing/platform.ts';
import { untilGone, untilReady, untilReason } from '../testing/until.ts';

const key = { namespace: 'kplane-cp-demo', name: 'controlplane-demo-kubeconfig' };

test('a control plane without any wishes becomes ready, and is then left alone', async () => {
  await using platform = await startTestPlatform();
  const operator = platform.start();
  const { client } = platform;
  await client.create(ControlPlane, { metadata: { name: 'demo' }, spec: {} });
  const ready = await untilReady(client, 'demo');
  const url = `${internalUrl}/clusters/demo/control-plane`;
  assert.equal(ready.status?.endpoint, url);
  assert.deepEqual(
    ready.status?.endpoints?.map((one) => one.url),
    [url, url, url],
  );
  assert.ok(hasFinalizer(ready, finalizer));
  const namespace = await client.get(Namespace, { name: 'kplane-cp-demo' });
  assert.equal(namespace.metadata.labels?.[labels.name], 'demo');
  assert.ok(isControlledBy(namespace, ready));
  const tenant = await client.get(Tenant, { name: 'demo' });
  assert.equal(tenant.spec?.deletionPolicy, 'Retain');
  await operator.stop();
  await platform.quiet();
  platform.forget();
  platform.start();
  await platform.quiet();
  assert.deepEqual(platform.writes, [], 'a restart writes nothing');
  assert.deepEqual(
    platform.requests.filter((one) => one.includes('/clusters/')),
    [],
    'nor enters the tenant',
  );
});

test('its administrator may do what its role says, and is no master', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(ControlPlane, { metadata: { name: 'demo' }, spec: {} });
  await untilReady(client, 'demo');
  const admin = await adminOf(platform, await client.get(Secret, key), 'demo');
  await granted(() => admin.create(ConfigMap, { metadata: { namespace: 'default', name: 'made-by-admin' } }));
  const { status } = await admin.create(SelfSubjectReview, { metadata: {} });
  assert.deepEqual(status?.userInfo?.username, 'controlplane-admin');
  assert.ok(!status?.userInfo?.groups?.includes('system:masters'));
});

test('inside there is what joining nodes and administrators expect', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  await platform.client.create(ControlPlane, { metadata: { name: 'demo' }, spec: {} });
  await untilReady(platform.client, 'demo');
  const inside = platform.inside('demo');
  await inside.get(Namespace, { name: 'kplane-system' });
  await inside.get(ServiceAccount, { namespace: 'kplane-system', name: 'controlplane-admin' });
  const binding = await inside.get(ClusterRoleBinding, { name: 'controlplane-admin' });
  assert.equal(binding.roleRef.name, 'cluster-admin');
  const info = await inside.get(ConfigMap, { namespace: 'kube-public', name: 'cluster-info' });
  assert.match(info.data!['kubeconfig']!, /server: https:\/\/hangar\.internal:6443\/clusters\/demo\/control-plane/);
});

test('deleting with Retain keeps the data for the next one of the path, with Destroy nothing is kept', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  const make = async (deletionPolicy: 'Retain' | 'Destroy'): Promise<void> => {
    await client.create(ControlPlane, { metadata: { name: 'demo' }, spec: { deletionPolicy } });
    await untilReady(client, 'demo');
  };
  const end = async (): Promise<void> => {
    await client.delete(ControlPlane, { name: 'demo' });
    await untilGone(client, ControlPlane, 'demo');
    assert.equal(await find(client, Tenant, { name: 'demo' }), undefined);
    assert.equal(await find(client, ControlPlaneEndpoint, { name: 'demo' }), undefined);
    assert.deepEqual((await client.list(Secret, { namespace: 'kplane-cp-demo' })).items, []);
  };
  const mark = { namespace: 'default', name: 'mark' };
  await make('Retain');
  await platform.inside('demo').create(ConfigMap, { metadata: { ...mark } });
  await end();
  await make('Destroy');
  await platform.inside('demo').get(ConfigMap, mark);
  await end();
  // At once: the namespace of the previous one may still exist.
  await make('Destroy');
  assert.equal(await find(platform.inside('demo'), ConfigMap, mark), undefined);
  await platform.inside('demo').get(ClusterRoleBinding, { name: 'controlplane-admin' });
  await platform.inside('demo').get(ClusterRoleBinding, { name: 'kubeadm:kubelet-bootstrap' });
});

test('a policy that changes last is the one that counts', async () => {
  await using platform = await startTestPlatform();
  const operator = platform.start();
  const { client } = platform;
  await client.create(ControlPlane, { metadata: { name: 'demo' }, spec: { deletionPolicy: 'Destroy' } });
  await untilReady(client, 'demo');
  await platform.inside('demo').create(ConfigMap, { metadata: { namespace: 'default', name: 'mark' } });
  await operator.stop();
  // No operator applied the policy to the tenant before the deletion.
  const body = { spec: { deletionPolicy: 'Retain' } };
  await client.patch(ControlPlane, { name: 'demo' }, { type: 'merge', body });
  await client.delete(ControlPlane, { name: 'demo' });
  platform.start();
  await untilGone(client, ControlPlane, 'demo');
  await client.create(ControlPlane, { metadata: { name: 'demo' }, spec: {} });
  await untilReady(client, 'demo');
  await platform.inside('demo').get(ConfigMap, { namespace: 'default', name: 'mark' });
});

test('a name that is too long for a namespace is shortened', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  const name = 'a-very-long-name-'.repeat(6).slice(0, 90) + 'x';
  await client.create(ControlPlane, { metadata: { name }, spec: { virtual: { clusterPath: 'short' } } });
  const { status } = await untilReady(client, name);
  const namespace = status!.kubeconfigSecretRef!.namespace;
  assert.equal(namespace, managementNamespace(name));
  assert.equal(namespace.length, 49);
  await client.get(Secret, status!.kubeconfigSecretRef!);
  const { metadata } = await client.get(Namespace, { name: namespace });
  assert.ok(metadata.labels![labels.name]!.length <= 63);
});

test('a namespace that somebody else made is not taken over', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(Namespace, { metadata: { name: 'kplane-cp-demo' } });
  await client.create(ControlPlane, { metadata: { name: 'demo' }, spec: {} });
  const { status } = await untilReason(client, 'demo', 'NamespaceConflict');
  assert.match(status!.conditions!.find(({ type }) => type === 'Ready')!.message, /kplane-cp-demo/);
  assert.deepEqual((await client.list(Secret, { namespace: 'kplane-cp-demo' })).items, []);
  assert.equal(await find(client, Tenant, { name: 'demo' }), undefined);
  await client.delete(ControlPlane, { name: 'demo' });
  await untilGone(client, ControlPlane, 'demo');
  const there = await client.get(Namespace, { name: 'kplane-cp-demo' });
  assert.equal(there.metadata.deletionTimestamp, undefined);
});
