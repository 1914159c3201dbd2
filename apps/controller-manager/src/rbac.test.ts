import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RestClient } from '@hangar/client';
import { ClusterRole, ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { Rights, startTestCluster, startTestFleet } from '@hangar/testkit';
import { feedRules } from './rbac.ts';
import { controllerManagerUser, rightsSuite } from './testing/rights-suite.ts';

rightsSuite('Hangar', async () => {
  const cluster = await startTestCluster({ authorization: 'rbac' });
  return {
    client: cluster.client,
    transport: cluster.transportOf({ name: controllerManagerUser }),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
});

test('the right to the feed is enough to follow it and to ask for a tenant again, and for no tenant', async () => {
  await using fleet = await startTestFleet({ clusters: ['a'], authorization: 'rbac' });
  const apiGroup = 'rbac.authorization.k8s.io';
  await fleet.client.create(ClusterRole, { metadata: { name: 'feed' }, rules: [...feedRules] });
  await fleet.client.create(ClusterRoleBinding, {
    metadata: { name: 'feed' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'feed' },
    subjects: [{ kind: 'User', apiGroup, name: controllerManagerUser }],
  });
  const rights = new Rights();
  const client = new RestClient(rights.watched(fleet.transportOf(undefined, { name: controllerManagerUser })));
  const target = '/apis/tenancy.hangar.dev/v1alpha1/tenants/*/feed';
  const ending = new AbortController();
  const stream = await client.raw({ method: 'GET', target, headers: {}, signal: ending.signal });
  assert.equal(stream.status, 200);
  const headers = { 'content-type': 'application/json' };
  const body = Buffer.from(JSON.stringify({ session: 'another', retell: ['a'] }));
  const retold = await client.raw({ method: 'POST', target, headers, body });
  assert.equal(retold.status, 404, (await retold.body()).toString());
  assert.deepEqual([rights.refused, rights.unused(feedRules)], [[], []]);
  const tenant = await client.raw({ method: 'GET', target: target.replace('*/feed', 'a'), headers: {} });
  assert.equal(tenant.status, 403);
  ending.abort();
});
