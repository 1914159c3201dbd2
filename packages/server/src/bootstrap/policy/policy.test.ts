import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { transactionWritesMax } from '@hangar/store';
import { TestServer, virtualClock } from '../../testing/test-server.ts';
import type { Data } from '../../testing/test-server.ts';
import { make } from '../make.ts';
import { newborn } from './newborn.ts';
import { parseRule } from './notation.ts';
import { policyBindings, policyRoles } from './objects.ts';
import { ensurePolicy } from './reconcile.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';

test('rules in short are the rules that they stand for', () => {
  assert.deepEqual(parseRule('read,update core,apps: pods pods/log = a b'), {
    verbs: ['get', 'list', 'update', 'watch'],
    apiGroups: ['', 'apps'],
    resources: ['pods', 'pods/log'],
    resourceNames: ['a', 'b'],
  });
  assert.deepEqual(parseRule('get /healthz /version/'), { verbs: ['get'], nonResourceURLs: ['/healthz', '/version/'] });
  assert.deepEqual(parseRule('* paths *'), { verbs: ['*'], nonResourceURLs: ['*'] });
  assert.deepEqual(parseRule('events'), {
    verbs: ['create', 'patch', 'update'],
    apiGroups: ['', 'events.k8s.io'],
    resources: ['events'],
  });
});

test('objects of the policy are born as if a client had created them', async () => {
  await using server = await TestServer.start({ clock: virtualClock() });
  const { plane } = server;
  const resources: Record<string, string> = {
    Role: 'roles',
    ClusterRole: 'clusterroles',
    RoleBinding: 'rolebindings',
    ClusterRoleBinding: 'clusterrolebindings',
  };
  for (const declared of [...policyRoles(), ...policyBindings()]) {
    const resource = plane.catalogue.find({
      group: 'rbac.authorization.k8s.io',
      version: 'v1',
      resource: resources[declared.kind]!,
    })!;
    const stored = (object: Data): Data => {
      const { uid: _, ...metadata } = object.metadata;
      return JSON.parse(resource.stored.encode({ ...object, metadata }).toString());
    };
    assert.deepEqual(stored(newborn(plane, declared)), stored(make(plane, resource, structuredClone(declared))));
  }
});

test('roles fit into one transaction, and so do bindings', () => {
  assert.ok(policyRoles().length <= transactionWritesMax);
  assert.ok(policyBindings().length <= transactionWritesMax);
});

describe('at every start', () => {
  test('nothing is written when all is there', async () => {
    await using server = await TestServer.start();
    const revision = await server.store.revision();
    await ensurePolicy(server.plane);
    assert.equal(await server.store.revision(), revision);
  });

  test('what is missing is added, what users added stays, and what they protect is left alone', async () => {
    await using server = await TestServer.start();
    const extra = { verbs: ['get'], apiGroups: ['example.com'], resources: ['widgets'] };
    const delegator = `${rbac}/clusterroles/system:auth-delegator`;
    const [first] = (await server.get(delegator)).rules;
    await server.merge(delegator, {
      rules: [extra, first],
      metadata: { labels: { mine: 'yes', 'kubernetes.io/bootstrapping': null } },
    });
    const protect = { annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'false' } };
    await server.merge(`${rbac}/clusterroles/system:basic-user`, { rules: [], metadata: protect });
    await server.remove(`${rbac}/clusterroles/system:discovery`);
    const jane = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' };
    await server.merge(`${rbac}/clusterrolebindings/system:kube-dns`, { subjects: [jane] });
    const monitoring = await server.get(`${rbac}/clusterrolebindings/system:monitoring`);
    await server.remove(`${rbac}/clusterrolebindings/system:monitoring`);
    await server.create(`${rbac}/clusterrolebindings`, {
      metadata: { name: 'system:monitoring' },
      roleRef: { ...monitoring.roleRef, name: 'cluster-admin' },
      subjects: [jane],
    });
    await ensurePolicy(server.plane);
    const reconciled = await server.get(delegator);
    assert.deepEqual(reconciled.rules, [
      extra,
      first,
      { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'] },
    ]);
    assert.deepEqual(reconciled.metadata.labels, { mine: 'yes', 'kubernetes.io/bootstrapping': 'rbac-defaults' });
    assert.ok(!(await server.get(`${rbac}/clusterroles/system:basic-user`)).rules?.length);
    assert.equal((await server.get(`${rbac}/clusterroles/system:discovery`)).rules.length, 1);
    const dns = await server.get(`${rbac}/clusterrolebindings/system:kube-dns`);
    assert.deepEqual(
      dns.subjects.map((one: Data) => one.name),
      ['jane', 'kube-dns'],
    );
    const replaced = await server.get(`${rbac}/clusterrolebindings/system:monitoring`);
    assert.deepEqual([replaced.roleRef, replaced.subjects], [monitoring.roleRef, monitoring.subjects]);
    const revision = await server.store.revision();
    await ensurePolicy(server.plane);
    assert.equal(await server.store.revision(), revision, 'then there is nothing to do');
  });
});
