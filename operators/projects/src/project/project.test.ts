/** Projects, from their creation to their deletion, with the operator of control planes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find } from '@hangar/client';
import { ConfigMap, Namespace } from '@hangar/client/kinds/core-v1';
import { ControlPlane, ControlPlaneClass } from '@hangar/controlplane-operator';
import { findCondition, isControlledBy } from '@hangar/runtime';
import { Organization, Project } from '../index.ts';
import {
  createOrganization,
  createProject,
  finalizeNamespaces,
  startTestPlatform,
  until,
  untilReason,
} from '../testing/platform.ts';

test('a project gets a control plane of the class of its organization', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(ControlPlaneClass, { metadata: { name: 'small' }, spec: {} });
  await createOrganization(client, 'acme', { controlPlaneClassRef: { name: 'small' } });
  await createProject(client, 'shop', 'acme');
  const project = await untilReason(client, Project, 'shop', 'Ready');
  const controlPlane = await client.get(ControlPlane, { name: 'shop' });
  assert.ok(isControlledBy(controlPlane, project));
  assert.equal(controlPlane.spec.classRef?.name, 'small');
  assert.equal(controlPlane.spec.deletionPolicy, 'Destroy');
  assert.deepEqual(project.status?.controlPlaneRef, { name: 'shop', uid: controlPlane.metadata.uid });
  await platform.inside('shop').list(ConfigMap, { namespace: 'default' });
});

test('a new class of the organization is the class of its existing projects', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(ControlPlaneClass, { metadata: { name: 'large' }, spec: {} });
  await createOrganization(client, 'acme');
  await createProject(client, 'shop', 'acme');
  await untilReason(client, Project, 'shop', 'Ready');
  const body = { spec: { controlPlaneClassRef: { name: 'large' } } };
  await client.patch(Organization, { name: 'acme' }, { type: 'merge', body });
  await until(client, ControlPlane, { name: 'shop' }, (one) => one?.spec.classRef?.name === 'large');
});

test('a project without an organization waits for it', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await createProject(client, 'shop', 'acme');
  await untilReason(client, Project, 'shop', 'OrganizationNotFound');
  assert.equal(await find(client, ControlPlane, { name: 'shop' }), undefined);
  await createOrganization(client, 'acme');
  await untilReason(client, Project, 'shop', 'Ready');
});

test('the control plane of another owner is neither used nor changed', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(ControlPlane, { metadata: { name: 'shop' }, spec: {} });
  const before = await until(client, ControlPlane, { name: 'shop' }, (one) => one?.status?.phase === 'Ready');
  await createOrganization(client, 'acme');
  await createProject(client, 'shop', 'acme');
  await untilReason(client, Project, 'shop', 'NameInUse');
  await client.delete(Project, { name: 'shop' });
  await until(client, Project, { name: 'shop' }, (one) => one === undefined);
  assert.deepEqual(await client.get(ControlPlane, { name: 'shop' }), before);
});

test('the retained data of a deleted control plane is not given to a project', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(ControlPlane, { metadata: { name: 'shop' }, spec: { deletionPolicy: 'Retain' } });
  await until(client, ControlPlane, { name: 'shop' }, (one) => one?.status?.phase === 'Ready');
  await platform.inside('shop').create(ConfigMap, { metadata: { name: 'old', namespace: 'default' } });
  await client.delete(ControlPlane, { name: 'shop' });
  await until(client, ControlPlane, { name: 'shop' }, (one) => one === undefined);
  await createOrganization(client, 'acme');
  await createProject(client, 'shop', 'acme');
  const project = await until(client, Project, { name: 'shop' }, (one) =>
    Boolean(findCondition(one?.status?.conditions, 'Ready')?.message?.includes('data of a deleted tenant is retained')),
  );
  assert.equal(findCondition(project?.status?.conditions, 'Ready')?.reason, 'ControlPlaneNotReady');
  await assert.rejects(platform.inside('shop').get(ConfigMap, { name: 'old', namespace: 'default' }));
  await client.delete(Project, { name: 'shop' });
  await until(client, Project, { name: 'shop' }, (one) => one === undefined);
  await client.create(ControlPlane, { metadata: { name: 'shop' }, spec: {} });
  await until(client, ControlPlane, { name: 'shop' }, (one) => one?.status?.phase === 'Ready');
  await platform.inside('shop').get(ConfigMap, { name: 'old', namespace: 'default' });
});

test('projects beyond the quota wait until another one is deleted', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await createOrganization(client, 'acme', { projectsMax: 1 });
  await createProject(client, 'first', 'acme');
  await untilReason(client, Project, 'first', 'Ready');
  await createProject(client, 'another', 'acme');
  await untilReason(client, Project, 'another', 'QuotaExceeded');
  assert.equal(await find(client, ControlPlane, { name: 'another' }), undefined);
  await client.delete(Project, { name: 'first' });
  await untilReason(client, Project, 'another', 'Ready');
});

test('a deletion names the blocking object, then deletes namespaces, then the control plane', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await createOrganization(client, 'acme');
  await createProject(client, 'shop', 'acme');
  await untilReason(client, Project, 'shop', 'Ready');
  const inside = platform.inside('shop');
  await inside.create(Namespace, { metadata: { name: 'web' } });
  const held = { namespace: 'web', name: 'held' };
  await inside.create(ConfigMap, { metadata: { ...held, finalizers: ['example.com/disk'] } });
  await inside.create(ConfigMap, { metadata: { namespace: 'default', name: 'free' } });
  await client.delete(Project, { name: 'shop' });
  const blocked = await until(client, Project, { name: 'shop' }, (one) =>
    /: ConfigMap "web\/held" \(finalizers: example.com\/disk\)$/.test(
      findCondition(one?.status?.conditions, 'ResourceCleanup')?.message ?? '',
    ),
  );
  assert.equal(findCondition(blocked!.status?.conditions, 'ResourceCleanup')!.reason, 'DeletingResources');
  assert.equal(findCondition(blocked!.status?.conditions, 'Ready')!.reason, 'Terminating');
  assert.equal(await find(inside, ConfigMap, { namespace: 'default', name: 'free' }), undefined);
  assert.equal((await inside.get(Namespace, { name: 'web' })).metadata.deletionTimestamp, undefined);
  await inside.patch(ConfigMap, held, { type: 'merge', body: { metadata: { finalizers: null } } });
  const atNamespaces = await untilReason(client, Project, 'shop', 'DeletingNamespaces', 'ResourceCleanup');
  assert.match(findCondition(atNamespaces.status?.conditions, 'ResourceCleanup')!.message, /: Namespace "web"$/);
  assert.equal((await client.get(ControlPlane, { name: 'shop' })).metadata.deletionTimestamp, undefined);
  const ender = finalizeNamespaces(inside);
  await until(client, Project, { name: 'shop' }, (one) => one === undefined);
  await ender.stop();
  assert.equal(await find(client, ControlPlane, { name: 'shop' }), undefined);
});

test('a project with the name of a deleted one has none of its data', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  for (const organization of ['acme', 'other']) {
    await createOrganization(client, organization);
    await createProject(client, 'shop', organization);
    await untilReason(client, Project, 'shop', 'Ready');
    const key = { namespace: 'kube-system', name: 'secret-plan' };
    assert.equal(await find(platform.inside('shop'), ConfigMap, key), undefined);
    await platform.inside('shop').create(ConfigMap, { metadata: key });
    await client.delete(Project, { name: 'shop' });
    await until(client, Project, { name: 'shop' }, (one) => one === undefined);
  }
});

test('a control plane that was deleted under a project is not replaced by an empty one', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await createOrganization(client, 'acme');
  await createProject(client, 'shop', 'acme');
  await untilReason(client, Project, 'shop', 'Ready');
  await client.delete(ControlPlane, { name: 'shop' });
  await untilReason(client, Project, 'shop', 'ControlPlaneDeleted');
  await platform.quiet();
  assert.equal(await find(client, ControlPlane, { name: 'shop' }), undefined);
  await client.delete(Project, { name: 'shop' });
  await until(client, Project, { name: 'shop' }, (one) => one === undefined);
});

test('a restart of the operator writes nothing and opens no control plane', async () => {
  await using platform = await startTestPlatform();
  const operator = platform.start();
  const { client } = platform;
  await createOrganization(client, 'acme');
  await createProject(client, 'shop', 'acme');
  await untilReason(client, Project, 'shop', 'Ready');
  await platform.quiet();
  await operator.stop();
  platform.forget();
  platform.start();
  await platform.quiet();
  assert.deepEqual(
    platform.requests.filter((one) => !one.startsWith('GET ') || one.includes('/clusters/')),
    [],
  );
});

test('names of the platform are reserved', async () => {
  await using platform = await startTestPlatform();
  for (const name of ['root', 'system', 'kube-system', 'system-x', 'with.dots']) {
    await assert.rejects(createProject(platform.client, name, 'acme'), { code: 'Invalid' }, name);
    await assert.rejects(platform.client.create(Organization, { metadata: { name }, spec: {} }), { code: 'Invalid' });
  }
});
