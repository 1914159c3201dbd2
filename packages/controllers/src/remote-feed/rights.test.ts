import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { ClusterRole, ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { Logger, systemClock, systemRandom } from '@hangar/core';
import { serviceAccount, startTestFleet, Tenant } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import { eventually } from '../testing/run-controllers.ts';
import { remoteFeed } from './remote-feed.ts';
import { Breakable } from './testing/breakable.ts';
import { Knowing } from './testing/knowing.ts';

const user = serviceAccount('kube-system', 'controllers');

async function allow(fleet: TestFleet, verbs: string[], resourceNames: string[]): Promise<void> {
  const rules = [{ apiGroups: ['tenancy.hangar.dev'], resources: ['tenants/feed'], verbs, resourceNames }];
  await fleet.client.apply(ClusterRole, { metadata: { name: 'feed' }, rules }, { fieldManager: 'test', force: true });
  await fleet.client.apply(
    ClusterRoleBinding,
    {
      metadata: { name: 'feed' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'feed' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user.name }],
    },
    { fieldManager: 'test', force: true },
  );
}

test('get and create of tenants/feed, of the name *, is all that a follower needs, and nothing else comes with it', async () => {
  await using fleet = await startTestFleet({ clusters: ['red'], authorization: 'rbac' });
  await fleet.clientOf('red').create(ConfigMap, { metadata: { namespace: 'default', name: 'a' } });
  const server = new Breakable(fleet.handler, { user });
  const lines: string[] = [];
  const log = new Logger({ level: 'warn', format: 'json', clock: systemClock, write: (line) => void lines.push(line) });
  const feed = remoteFeed({ client: server.client, clock: systemClock, random: systemRandom, log });
  await allow(fleet, ['get', 'create'], ['red']);
  await using knowing = new Knowing(feed, ({ resource }) => resource === 'configmaps');
  await eventually(() => lines.some((line) => line.includes('cannot get resource')));
  assert.equal(knowing.told.length, 0, 'the right to one tenant is not the right to all');
  await allow(fleet, ['get', 'create'], ['*']);
  await eventually(() => knowing.isSynced);
  feed.retell('red');
  await eventually(() => knowing.told.includes('told red'));
  assert.ok(!knowing.told.includes('reset'));
  await assert.rejects(server.client.list(Tenant), { code: 'Forbidden' });
  await assert.rejects(server.client.subresource('usage').get(Tenant, { name: '*' }), { code: 'Forbidden' });
  await assert.rejects(server.client.subresource('keys').create(Tenant, { name: 'red' }, {}), { code: 'Forbidden' });
});
