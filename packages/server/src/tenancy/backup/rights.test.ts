/** Backups and restores also require the permissions of the operations that they include. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { prefixRange } from '@hangar/store';
import { RbacAuthorizer } from '../../auth/authorization/rbac/rbac-authorizer.ts';
import { isStreaming } from '../../http/message.ts';
import { tenants, TenancyServer } from '../../testing/tenancy-server.ts';
import { backup, restore } from './testing.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';

const opened = (): Promise<TenancyServer> =>
  TenancyServer.open({
    tokens: [{ token: 'bob', user: 'bob', uid: 'bob', groups: [] }],
    authorizers: (plane) => [new RbacAuthorizer(plane.policy)],
  });

/** Allows Bob to create these resources. */
async function grant(server: TenancyServer, ...resources: string[]): Promise<void> {
  const name = resources.join('-').replaceAll('/', '-');
  const rules = [{ apiGroups: ['tenancy.hangar.dev'], resources, verbs: ['create'] }];
  await server.expect(201, 'POST', `${rbac}/clusterroles`, { body: { metadata: { name }, rules } });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
  const subjects = [{ kind: 'User', name: 'bob', apiGroup: 'rbac.authorization.k8s.io' }];
  await server.expect(201, 'POST', `${rbac}/clusterrolebindings`, { body: { metadata: { name }, roleRef, subjects } });
  await server.root.policy.fresh();
}

describe('who may back up a tenant', () => {
  test('does not get its keys without the right to them', async () => {
    await using server = await opened();
    await server.make('demo');
    await grant(server, 'tenants/backup');
    const asked = (query: string) => server.answer('POST', `${tenants}/demo/backup${query}`, { token: 'bob' });
    assert.equal((await asked('')).status, 200);
    assert.equal((await asked('?includeKeys=false')).status, 200);
    for (const query of ['?includeKeys=true', '?includeKeys', '?includeKeys=1']) {
      const { status, body } = await asked(query);
      assert.equal(status, 403, query);
      assert.ok(!isStreaming(body));
      assert.match(
        Buffer.concat([body].flat() as Uint8Array[]).toString(),
        /cannot create resource \\"tenants\/keys\\"/,
      );
    }
    await server.expect(403, 'POST', `${tenants}/nobodys/backup?includeKeys=true`, { token: 'bob' });
    await grant(server, 'tenants/keys');
    assert.equal((await asked('?includeKeys=true')).status, 200);
  });
});

describe('who may restore a tenant', () => {
  test('makes none without the right to make tenants', async () => {
    await using server = await opened();
    await server.make('demo');
    const file = await backup(server, 'demo');
    await grant(server, 'tenants/restore');
    for (const query of ['', '?dryRun=All']) {
      const { status, data } = await restore(server, `copy/restore${query}`, file, 'bob');
      assert.equal(status, 403);
      assert.match(data.message, /User "bob" cannot create resource "tenants" in API group "tenancy.hangar.dev"/);
    }
    assert.equal((await server.store.range(prefixRange('/registry/clusters/copy/'))).entries.length, 0);
    await server.expect(404, 'GET', `${tenants}/copy`);
    await grant(server, 'tenants');
    assert.equal((await restore(server, 'copy/restore', file, 'bob')).status, 201);
  });
});
