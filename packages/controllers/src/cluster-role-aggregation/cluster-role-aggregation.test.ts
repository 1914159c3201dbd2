import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readClusterRole, RoleAggregation } from '@hangar/api/rbac';
import { Event } from '@hangar/client/kinds/core-v1';
import { ClusterRole } from '@hangar/client/kinds/rbac-v1';
import type { PolicyRule } from '@hangar/client/kinds/rbac-v1';
import { inSlices, Slicer, systemClock } from '@hangar/core';
import { startTestFleet } from '@hangar/testkit';
import { eventually, runControllers } from '../testing/run-controllers.ts';
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
test('roles follow what they collect, under kube-controller-manager’s name, and then nothing is written', async () => {
  // The aggregation of the server runs beside it: neither reverts partial work of the other.
  await using fleet = await startTestFleet({ clusters: [] });
  const { client } = fleet;
  await using running = runControllers(fleet, {
    controllers: () => [new ClusterRoleAggregationController(systemClock)],
  });
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
  const roles = new Map(items.map((item) => [item.metadata.name!, readClusterRole(item)]));
  const { outdated } = await inSlices(new Slicer(systemClock), new RoleAggregation().update(roles));
  assert.deepEqual(outdated, []);
});

test('a role over a limit keeps its rules, and gets an Event', async () => {
  await using fleet = await startTestFleet({ clusters: [] });
  const { client } = fleet;
  await using running = runControllers(fleet, {
    controllers: () => [new ClusterRoleAggregationController(systemClock)],
  });
  await running.synced;
  const many = (name: string): ClusterRole =>
    role(name, { labels: { to: 'all' }, rules: Array.from({ length: 3_000 }, (_, at) => `${name}${at}`) });
  await client.create(ClusterRole, many('a'));
  await client.create(ClusterRole, role('all', { collects: [{ to: 'all' }] }));
  const rulesOf = async (): Promise<PolicyRule[]> => (await client.get(ClusterRole, { name: 'all' })).rules ?? [];
  await eventually(async () => assert.equal((await rulesOf()).length, 3_000));
  await client.create(ClusterRole, many('b'));
  await eventually(async () => {
    const { items } = await client.list(Event, { namespace: 'default' });
    const event = items.find(({ reason }) => reason === 'AggregationRefused');
    assert.equal(event?.message, 'not updating the rules of ClusterRole "all": it would have more than 5000 rules');
  });
  assert.equal((await rulesOf()).length, 3_000);
  await client.delete(ClusterRole, { name: 'a' });
  await eventually(async () => assert.equal(resourcesOf(await rulesOf())[0], 'b0'));
});
