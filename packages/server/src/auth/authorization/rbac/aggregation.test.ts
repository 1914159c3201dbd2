import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestServer } from '../../../testing/test-server.ts';
import type { Data } from '../../../testing/test-server.ts';

const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const rule = (resource: string): { verbs: string[]; apiGroups: string[]; resources: string[] } => ({
  verbs: ['get'],
  apiGroups: ['example.com'],
  resources: [resource],
});
const toView = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };

const resourcesOf = (role: Data): string[] => (role.rules ?? []).flatMap((one: Data) => one.resources);

test('a labelled role adds to view, edit and admin, and takes its rules along when it goes', async () => {
  await using server = await TestServer.start();
  const before = await server.get(`${roles}/admin`);
  await server.create(roles, { metadata: { name: 'mine', labels: toView }, rules: [rule('widgets')] });
  await server.until('all three have it', async () => {
    const all = await Promise.all(['view', 'edit', 'admin'].map((name) => server.get(`${roles}/${name}`)));
    return all.every((role) => resourcesOf(role).includes('widgets'));
  });
  const { metadata } = await server.get(`${roles}/view`);
  const applied = metadata.managedFields.find((one: Data) => one.manager === 'clusterrole-aggregation-controller');
  assert.deepEqual([applied.operation, applied.fieldsV1], ['Apply', { 'f:rules': {} }]);
  await server.remove(`${roles}/mine`);
  await server.until('none has it', async () => {
    const all = await Promise.all(['view', 'edit', 'admin'].map((name) => server.get(`${roles}/${name}`)));
    return all.every((role) => !resourcesOf(role).includes('widgets'));
  });
  assert.deepEqual((await server.get(`${roles}/admin`)).rules, before.rules);
});

test('roles that collect each other come to rest', async () => {
  await using server = await TestServer.start();
  const collecting = (name: string, label: string): object => ({
    metadata: { name, labels: { [label]: 'yes' } },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label === 'a' ? 'b' : 'a']: 'yes' } }] },
    rules: [],
  });
  await server.create(roles, collecting('one', 'a'));
  await server.create(roles, collecting('two', 'b'));
  await server.create(roles, { metadata: { name: 'source', labels: { a: 'yes' } }, rules: [rule('widgets')] });
  await server.until('both have it', async () => {
    const all = await Promise.all(['one', 'two'].map((name) => server.get(`${roles}/${name}`)));
    return all.every((role) => resourcesOf(role).join() === 'widgets');
  });
  await server.plane.policy.fresh();
  const revision = await server.store.revision();
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(await server.store.revision(), revision);
});
