import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ClusterRole } from '@hangar/client/kinds/rbac-v1';
import type { PolicyRule } from '@hangar/client/kinds/rbac-v1';
import { startTestFleet } from '@hangar/testkit';
import { eventually, runControllers } from '../testing/run-controllers.ts';
import { outdated } from './aggregated.ts';
import { ClusterRoleAggregationController } from './cluster-role-aggregation.ts';

const rule = (resource: string): PolicyRule => ({ apiGroups: ['example.com'], resources: [resource], verbs: ['get'] });

interface Sketch {
  readonly labels?: Record<string, string>;
  readonly collects?: readonly Record<string, string>[];
  readonly rules?: readonly string[];
}

const role = (name: string, { labels = {}, collects, rules = [] }: Sketch) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1' as const,
  kind: 'ClusterRole' as const,
  metadata: { name, labels },
  rules: rules.map(rule),
  ...(collects ? { aggregationRule: { clusterRoleSelectors: collects.map((matchLabels) => ({ matchLabels })) } } : {}),
});

const resourcesOf = (rules: readonly PolicyRule[] = []): string[] => rules.flatMap(({ resources }) => resources ?? []);
const changes = (...roles: ClusterRole[]) =>
  Object.fromEntries(Array.from(outdated(roles), ([name, rules]) => [name, resourcesOf(rules)]));

describe('a role that collects others', () => {
  test('has their rules by the order of its selectors, then of names, each once', () => {
    const all = role('all', { collects: [{ to: 'b' }, { to: 'a' }] });
    const found = changes(
      role('z', { labels: { to: 'a' }, rules: ['one', 'two'] }),
      role('c', { labels: { to: 'b' }, rules: ['three'] }),
      role('b', { labels: { to: 'b' }, rules: ['two'] }),
      all,
    );
    assert.deepEqual(found, { all: ['two', 'three', 'one'] });
  });

  test('collects collected ones in the same step, whatever their names', () => {
    const found = changes(
      role('a-admin', { collects: [{ to: 'admin' }] }),
      role('b-edit', { labels: { to: 'admin' }, collects: [{ to: 'edit' }] }),
      role('c-view', { labels: { to: 'edit' }, collects: [{ to: 'view' }] }),
      role('d', { labels: { to: 'view' }, rules: ['one'] }),
    );
    assert.deepEqual(found, { 'a-admin': ['one'], 'b-edit': ['one'], 'c-view': ['one'] });
  });

  test('loses what nobody gives any more, never collects itself, and is left alone when it is right', () => {
    const collecting: Sketch = { labels: { to: 'all' }, collects: [{ to: 'all' }] };
    const giver = role('giver', { labels: { to: 'all' }, rules: ['one'] });
    assert.deepEqual(changes(role('all', { ...collecting, rules: ['gone'] }), giver), { all: ['one'] });
    assert.deepEqual(changes(role('all', { ...collecting, rules: ['one'] }), giver), {});
    assert.deepEqual(changes(role('all', { ...collecting, rules: ['own'] })), { all: [] });
    assert.deepEqual(changes(role('all', { rules: ['own'] }), giver), {}, 'it collects nothing');
  });

  test('ends with those that collect each other', () => {
    const found = changes(
      role('a', { labels: { to: 'b' }, collects: [{ to: 'a' }] }),
      role('b', { labels: { to: 'a' }, collects: [{ to: 'b' }] }),
      role('c', { labels: { to: 'a' }, rules: ['one'] }),
    );
    assert.deepEqual(found, { a: ['one'], b: ['one'] });
  });
});

test('roles follow what they collect, under kube-controller-manager’s name, and then nothing is written', async () => {
  // The server's own collector works beside it: neither takes back what the other has done by half.
  await using fleet = await startTestFleet({ clusters: [] });
  const { client } = fleet;
  await using running = runControllers(fleet, { controllers: () => [new ClusterRoleAggregationController()] });
  await running.synced;
  const rulesOf = async (name: string): Promise<PolicyRule[]> => (await client.get(ClusterRole, { name })).rules ?? [];
  const label = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
  await client.create(ClusterRole, role('mine', { labels: label, rules: ['shops'] }));
  for (const name of ['view', 'edit', 'admin']) {
    await eventually(async () => assert.ok(resourcesOf(await rulesOf(name)).includes('shops'), name));
  }
  const { metadata } = await client.get(ClusterRole, { name: 'admin' });
  const owner = metadata.managedFields!.find(({ manager }) => manager === 'clusterrole-aggregation-controller');
  assert.deepEqual([owner?.operation, owner?.fieldsV1], ['Apply', { 'f:rules': {} }]);
  await eventually(() => running.set.length === 0);
  const revision = await fleet.store.revision();
  await client.patch(ClusterRole, { name: 'mine' }, { type: 'merge', body: { metadata: { labels: { more: 'yes' } } } });
  await eventually(() => running.set.length === 0);
  assert.equal(await fleet.store.revision(), revision + 1, 'the patch, and nothing else');
  await client.delete(ClusterRole, { name: 'mine' });
  for (const name of ['view', 'edit', 'admin']) {
    await eventually(async () => assert.ok(!resourcesOf(await rulesOf(name)).includes('shops'), name));
  }
});

test('a role that is deleted while it is collected for does not come back', async () => {
  await using fleet = await startTestFleet({ clusters: [] });
  const { client } = fleet;
  const all = await client.create(ClusterRole, role('all', { collects: [{ to: 'all' }] }));
  const wanted = { metadata: { name: 'all', uid: all.metadata.uid! }, rules: [rule('one')] };
  await client.delete(ClusterRole, { name: 'all' });
  await assert.rejects(client.apply(ClusterRole, wanted, { fieldManager: 'm', force: true }), { code: 'Conflict' });
  await client.create(ClusterRole, role('all', {}));
  await assert.rejects(client.apply(ClusterRole, wanted, { fieldManager: 'm', force: true }), { code: 'Invalid' });
});

test('the roles of a new tenant are collected already', async () => {
  await using fleet = await startTestFleet({ clusters: ['red'] });
  const { items } = await fleet.clientOf('red').list(ClusterRole);
  assert.ok(items.some(({ aggregationRule }) => aggregationRule));
  assert.deepEqual([...outdated(items)], []);
});

test('roles that collect each other come to an end, and forget what nobody has any more', () => {
  const sketch = (leaf: readonly string[]): ClusterRole[] => [
    role('c0', { labels: { of: 'c3' }, collects: [{ of: 'c0' }] }),
    role('c1', { labels: { of: 'c0' }, collects: [{ of: 'c1' }] }),
    role('c2', { labels: { of: 'c1' }, collects: [{ of: 'c2' }] }),
    role('c3', { labels: { of: 'c2' }, collects: [{ of: 'c3' }] }),
    role('leaf-a', { labels: { of: 'c0' }, rules: ['a'] }),
    role('leaf-b', { labels: { of: 'c2' }, rules: leaf }),
  ];
  const written = (roles: ClusterRole[], wanted: ReadonlyMap<string, readonly PolicyRule[]>): ClusterRole[] =>
    roles.map((one) => ({ ...one, rules: [...(wanted.get(one.metadata.name!) ?? one.rules ?? [])] }));
  const done = written(sketch(['b']), outdated(sketch(['b'])));
  assert.deepEqual(changes(...done), {});
  for (const one of done.slice(0, 4)) assert.deepEqual(resourcesOf(one.rules).sort(), ['a', 'b']);
  const without = [...done.slice(0, 5), role('leaf-b', { labels: { of: 'c2' }, rules: [] })];
  assert.deepEqual(changes(...without), { c0: ['a'], c1: ['a'], c2: ['a'], c3: ['a'] });
});
