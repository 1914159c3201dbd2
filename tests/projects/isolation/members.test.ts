/** Attacks of users on organizations and projects of others. Users that look like members, and removed members. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { OrganizationMembership } from '../../../operators/projects/src/index.ts';
import { createMembership } from '../../../operators/projects/src/testing/platform.ts';
import { configMaps, membershipOf, runCases } from '../testing/cases.ts';
import { api, projectRoutes, startMembers } from '../testing/members.ts';
import type { Members } from '../testing/members.ts';

let members: Members;
before(async () => {
  members = await startMembers();
});
after(async () => members[Symbol.asyncDispose]());

describe('names of members', () => {
  const list = `${api}/projects`;
  runCases(
    () => members,
    [
      { name: 'a user with the name of a group', person: { name: 'oidc:team' }, target: list, status: 403 },
      { name: 'a group with the name of a user', person: { name: 'x', groups: ['kim'] }, target: list, status: 403 },
      { name: 'a renamed group', person: { name: 'tom', groups: ['oidc:team-2'] }, target: list, status: 403 },
      { name: 'a group without its prefix', person: { name: 'tom', groups: ['team'] }, target: list, status: 403 },
      { name: 'a name in upper case', person: { name: 'KIM' }, target: list, status: 403 },
      { name: 'a name with a space', person: { name: 'kim ' }, target: list, status: 403 },
      {
        name: 'inside: a user with the name of a group',
        person: { name: 'oidc:team' },
        target: '/projects/shop/control-plane/version',
        status: 404,
      },
      {
        name: 'inside: a group with the name of a user',
        person: { name: 'x', groups: ['kim'] },
        target: '/projects/shop/control-plane/version',
        status: 404,
      },
    ],
  );

  test('a membership outside of the namespace of its organization has no effect', async () => {
    const { client } = members.platform;
    for (const namespace of ['default', 'organization-globex']) {
      const planted = membershipOf(namespace, 'acme', 'mallory');
      await client.create(OrganizationMembership, planted as never);
      const mallory = { name: 'mallory' };
      await members.platform.quiet();
      assert.equal((await members.ask(mallory, list)).status, 403);
      assert.equal((await members.ask(mallory, '/projects/shop/control-plane/version')).status, 404);
      await client.delete(OrganizationMembership, { namespace, name: 'planted' });
    }
  });

  test('a removed member loses the projects, also by open watches and with the former kubeconfig', async () => {
    const { client } = members.platform;
    const zoe = { name: 'zoe' };
    await createMembership(client, 'zoe', 'acme', { userRef: { name: 'zoe' }, roles: [{ name: 'viewer' }] });
    await members.untilStatus(200, zoe, `/projects/shop/control-plane${configMaps}`);
    const watching = members.ask(zoe, `${api}/projects?watch=true`);
    const inside = members.ask(zoe, `/projects/shop/control-plane${configMaps}?watch=true`);
    await client.delete(OrganizationMembership, { namespace: 'organization-acme', name: 'zoe' });
    const ended = await watching;
    assert.match(ended.text, /"code":410/);
    // The watch inside the project ends, too.
    await inside;
    await members.untilStatus(403, zoe, list);
    for (const route of projectRoutes('shop')) {
      assert.equal((await members.ask(zoe, `${route}${configMaps}`)).status, 404);
    }
  });
});
