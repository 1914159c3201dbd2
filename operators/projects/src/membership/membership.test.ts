/** Roles of members inside projects. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { hasCode } from '@hangar/core';
import { Organization, OrganizationMembership, Project } from '../index.ts';
import {
  createMembership,
  createOrganization,
  createProject,
  startTestPlatform,
  until,
  untilReason,
} from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { bindingPrefix } from './role-bindings.ts';

const namespace = 'organization-acme';

async function started(platform: TestPlatform): Promise<void> {
  platform.start();
  await createOrganization(platform.client, 'acme');
  await createProject(platform.client, 'shop', 'acme');
  await untilReason(platform.client, Project, 'shop', 'Ready');
}

/** Resolves when exactly these users and groups have the role in the project. */
const untilBound = (inside: Client, role: string, names: readonly string[]): Promise<unknown> =>
  until(inside, ClusterRoleBinding, { name: bindingPrefix + role }, (binding) => {
    const bound = binding?.subjects?.map(({ name }) => name) ?? [];
    return JSON.stringify(bound) === JSON.stringify(names);
  });

const isAllowed = (request: Promise<unknown>): Promise<boolean> =>
  request.then(
    () => true,
    (error: unknown) => {
      if (hasCode(error, 'Forbidden')) return false;
      throw error;
    },
  );

test('members have the rights of their roles in all projects, and lose them with the membership', async () => {
  await using platform = await startTestPlatform();
  await started(platform);
  const { client, fleet } = platform;
  const inside = platform.inside('shop');
  await createMembership(client, 'kim', 'acme', { userRef: { name: 'kim' }, roles: [{ name: 'viewer' }] });
  await createMembership(client, 'team', 'acme', { groupRef: { name: 'oidc:team' }, roles: [{ name: 'editor' }] });
  await untilBound(inside, 'viewer', ['kim']);
  await untilBound(inside, 'editor', ['oidc:team']);
  const kim = fleet.clientOf('shop', { name: 'kim' });
  const lee = fleet.clientOf('shop', { name: 'lee', groups: ['oidc:team'] });
  const create = (who: Client, name: string) => who.create(ConfigMap, { metadata: { namespace: 'default', name } });
  const list = (who: Client) => who.list(ConfigMap, { namespace: 'default' });
  assert.deepEqual(await Promise.all([isAllowed(list(kim)), isAllowed(create(kim, 'a'))]), [true, false]);
  assert.deepEqual(await Promise.all([isAllowed(list(lee)), isAllowed(create(lee, 'b'))]), [true, true]);
  assert.equal(await isAllowed(list(fleet.clientOf('shop', { name: 'stranger' }))), false);
  await createProject(client, 'later', 'acme');
  await untilReason(client, Project, 'later', 'Ready');
  await untilBound(platform.inside('later'), 'viewer', ['kim']);
  await client.delete(OrganizationMembership, { namespace, name: 'kim' });
  await until(inside, ClusterRoleBinding, { name: `${bindingPrefix}viewer` }, (one) => one === undefined);
  assert.equal(await isAllowed(list(kim)), false);
});

test('a changed role replaces the former one', async () => {
  await using platform = await startTestPlatform();
  await started(platform);
  const { client } = platform;
  const inside = platform.inside('shop');
  await createMembership(client, 'kim', 'acme', { userRef: { name: 'kim' }, roles: [{ name: 'admin' }] });
  await untilBound(inside, 'admin', ['kim']);
  const body = { spec: { roles: [{ name: 'viewer' }] } };
  await client.patch(OrganizationMembership, { namespace, name: 'kim' }, { type: 'merge', body });
  await untilBound(inside, 'viewer', ['kim']);
  await until(inside, ClusterRoleBinding, { name: `${bindingPrefix}admin` }, (one) => one === undefined);
});

test('a membership outside of the namespace of its organization grants nothing', async () => {
  await using platform = await startTestPlatform();
  await started(platform);
  const { client } = platform;
  const spec = { organizationRef: { name: 'acme' }, userRef: { name: 'eve' }, roles: [{ name: 'admin' }] };
  await client.create(OrganizationMembership, { metadata: { namespace: 'default', name: 'eve' }, spec });
  const isRefused = (one: OrganizationMembership | undefined): boolean =>
    one?.status?.conditions?.some(({ reason }) => reason === 'WrongNamespace') ?? false;
  await until(client, OrganizationMembership, { namespace: 'default', name: 'eve' }, isRefused);
  await platform.quiet();
  const { items } = await platform.inside('shop').list(ClusterRoleBinding);
  assert.deepEqual(
    items.filter(({ metadata }) => metadata.name!.startsWith(bindingPrefix)),
    [],
  );
});

test('names of the platform cannot be members', async () => {
  await using platform = await startTestPlatform();
  await started(platform);
  const roles = [{ name: 'admin' }];
  const refused = { code: 'Invalid' };
  const { client } = platform;
  await assert.rejects(createMembership(client, 'a', 'acme', { groupRef: { name: 'system:masters' }, roles }), refused);
  await assert.rejects(createMembership(client, 'b', 'acme', { userRef: { name: 'system:admin' }, roles }), refused);
  await assert.rejects(createMembership(client, 'c', 'acme', { roles }), refused);
});

test('an organization is deleted after its projects, with its members', async () => {
  await using platform = await startTestPlatform();
  await started(platform);
  const { client } = platform;
  await createMembership(client, 'kim', 'acme', { userRef: { name: 'kim' }, roles: [{ name: 'admin' }] });
  await client.delete(Organization, { name: 'acme' });
  const waiting = await untilReason(client, Organization, 'acme', 'ProjectsExist');
  assert.match(waiting.status!.conditions![0]!.message, /: "shop"$/);
  await client.delete(Project, { name: 'shop' });
  await until(client, Organization, { name: 'acme' }, (one) => one === undefined);
  await createOrganization(client, 'acme');
  assert.deepEqual((await client.list(OrganizationMembership, { namespace })).items, []);
});
