import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestServer } from '../../../testing/test-server.ts';
import type { Data } from '../../../testing/test-server.ts';
import { aggregatedRules, allAggregatedRules } from './aggregation.ts';
import type { ClusterRole } from './aggregation.ts';

const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const rule = (resource: string): { verbs: string[]; apiGroups: string[]; resources: string[] } => ({
  verbs: ['get'],
  apiGroups: ['example.com'],
  resources: [resource],
});
const toView = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };

const resourcesOf = (role: Data): string[] => (role.rules ?? []).flatMap((one: Data) => one.resources);

test('a role collects those that it selects, in the order of their names, each rule once and never its own', () => {
  const role = (name: string, labels: Record<string, string>, ...resources: string[]): ClusterRole => ({
    name,
    labels,
    rules: resources.map(rule),
    selectors: [],
    isAggregated: false,
  });
  const collector: ClusterRole = {
    ...role('m', { a: '1' }, 'own'),
    isAggregated: true,
    selectors: [{ matchLabels: { a: '1' } }, { matchExpressions: [{ key: 'b', operator: 'Exists' }] }],
  };
  const all = [
    role('z', { a: '1' }, 'x', 'y'),
    collector,
    role('b', { a: '1', b: '' }, 'y', 'w'),
    role('c', { b: '' }, 'v'),
    role('d', {}),
  ];
  assert.deepEqual(aggregatedRules(collector, all), ['y', 'w', 'x', 'v'].map(rule));
  assert.deepEqual(aggregatedRules({ ...collector, selectors: [] }, all), []);
});

test('what a role collects does not follow from how far somebody has come who writes the others', () => {
  const role = (name: string, to: string, more: Partial<ClusterRole> = {}): ClusterRole => ({
    name,
    labels: { to },
    rules: [],
    selectors: [{ matchLabels: { to: name } }],
    isAggregated: true,
    ...more,
  });
  const leaf = role('mine', 'view', { rules: [rule('x')], selectors: [], isAggregated: false });
  const done = { rules: [rule('x')] };
  for (const names of [[], ['admin'], ['admin', 'edit'], ['edit'], ['view'], ['admin', 'edit', 'view']]) {
    const all = [role('admin', ''), role('edit', 'admin'), role('view', 'edit')].map((one) =>
      names.includes(one.name) ? { ...one, ...done } : one,
    );
    const found = Array.from(allAggregatedRules([leaf, ...all]), ([{ name }, rules]) => [name, rules]);
    assert.deepEqual(found, [
      ['admin', [rule('x')]],
      ['edit', [rule('x')]],
      ['view', [rule('x')]],
    ]);
    const without = allAggregatedRules(all);
    assert.deepEqual([...without.values()], [[], [], []], 'nobody has it any more');
  }
});

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
