/** Extras of users in the control plane of a project, for all credentials. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import { absent } from '@hangar/store';
import { Auditor } from '../../audit/auditor.ts';
import type { AuditEvent } from '../../audit/event.ts';
import { AuditPolicy } from '../../audit/policy.ts';
import type { TokenAuthenticator } from '../../auth/tokens.ts';
import { TenancyServer } from '../../testing/tenancy-server.ts';
import { configMaps } from '../../testing/test-server.ts';

/** As an issuer with a claim mapping, or a front proxy, could bring it. */
const extra = { 'iam.miloapis.com/parent-name': ['forged'], scopes: ['a'] };
const authenticators: readonly TokenAuthenticator[] = [
  {
    authenticateToken: (token) =>
      token === 'boss' ? { user: { name: 'boss', uid: '', groups: ['system:masters'], extra } } : undefined,
  },
];
const parent = {
  scopes: ['a'],
  'iam.miloapis.com/parent-api-group': ['resourcemanager.miloapis.com'],
  'iam.miloapis.com/parent-type': ['Project'],
  'iam.miloapis.com/parent-name': ['shop'],
};

async function openServer(options: Parameters<typeof TenancyServer.open>[0] = {}): Promise<TenancyServer> {
  const server = await TenancyServer.open({ authenticators, ...options });
  await server.make('shop');
  await server.make('plain');
  const body = { metadata: { annotations: { 'controlplane.kplane.dev/uid': 'one' } } };
  await server.expect(200, 'PATCH', '/apis/tenancy.hangar.dev/v1alpha1/tenants/shop', {
    body,
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  const key = '/registry/clusters/root/resourcemanager.miloapis.com/projects/shop';
  const project = {
    metadata: { name: 'shop' },
    spec: { ownerRef: { name: 'acme' } },
    status: { controlPlaneRef: { name: 'shop', uid: 'one' } },
  };
  const value = Buffer.from(JSON.stringify(project));
  const stored = await server.store.commit([{ type: 'put', key, value, expected: absent }]);
  assert.ok(stored.committed);
  await server.tenancy.projects.reached(stored.revision);
  return server;
}

const boss = { token: 'boss' } as const;

test('a credential cannot bring the extras of a project', async () => {
  await using server = await openServer();
  const review = async (path: string) => {
    const target = `/clusters/${path}/control-plane/apis/authentication.k8s.io/v1/selfsubjectreviews`;
    return (await server.expect(201, 'POST', target, { ...boss, body: {} })).status.userInfo.extra;
  };
  assert.deepEqual(await review('shop'), parent);
  assert.deepEqual(await review('plain'), { scopes: ['a'] });
});

test('audit events have the extras, also of impersonated users and of refusals', async () => {
  const events: AuditEvent[] = [];
  const policy = AuditPolicy.read('apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]');
  const sink = {
    write: (event: string) => void events.push(JSON.parse(event) as AuditEvent),
    close: () => Promise.resolve(),
  };
  const auditor = new Auditor({ policy, sinks: [sink], clock: systemClock });
  await using server = await openServer({ auditor });
  const target = `/projects/shop/control-plane${configMaps}`;
  await server.expect(200, 'GET', target, boss);
  await server.expect(403, 'GET', target, { ...boss, headers: { 'impersonate-user': 'kim' } });
  const done = events.filter(({ stage, requestURI }) => stage === 'ResponseComplete' && requestURI === target);
  assert.deepEqual(done[0]!.user.extra, parent);
  const { scopes: _scopes, ...own } = parent;
  assert.deepEqual(done[1]!.impersonatedUser?.extra, own);
});
