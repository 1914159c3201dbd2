/** Members create, see and delete projects in the management plane with their own credentials. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import { Organization, OrganizationMembership, Project } from '../../operators/projects/src/index.ts';
import { createMembership, untilReason } from '../../operators/projects/src/testing/platform.ts';
import { projectOf } from './testing/cases.ts';
import { api, ed, eve, kim, lee, startMembers, stranger, tom, untilBound, vi } from './testing/members.ts';

const namesOf = (items: readonly { metadata: { name?: string } }[]): string[] =>
  items.map(({ metadata }) => metadata.name!);

test('members see the objects of their organizations only', async () => {
  await using members = await startMembers();
  const lists = async (client: Client) => [
    namesOf((await client.list(Organization)).items),
    namesOf((await client.list(OrganizationMembership)).items),
    namesOf((await client.list(Project)).items),
  ];
  assert.deepEqual(await lists(members.clientOf(vi)), [['acme'], ['ed', 'kim', 'team', 'vi'], ['shop', 'shop-2']]);
  assert.deepEqual(await lists(members.clientOf(tom)), [['acme'], ['ed', 'kim', 'team', 'vi'], ['shop', 'shop-2']]);
  assert.deepEqual(await lists(members.clientOf(eve)), [['globex'], ['eve'], ['lab']]);
  await assert.rejects(members.clientOf(stranger).list(Project), { code: 'Forbidden' });
  const all = await members.platform.client.list(Project);
  assert.deepEqual(namesOf(all.items), ['lab', 'shop', 'shop-2']);
});

test('pages of a list have the visible objects only, and do not count others', async () => {
  await using members = await startMembers();
  const first = await members.ask(kim, `${api}/projects?limit=1`);
  interface Page {
    metadata: { continue: string; remainingItemCount: number };
    items: Project[];
  }
  const list = first.json<Page>();
  assert.deepEqual([namesOf(list.items), list.metadata.remainingItemCount], [['shop'], 1]);
  const next = `${api}/projects?limit=1&continue=${list.metadata.continue}`;
  const second = (await members.ask(kim, next)).json<Page>();
  assert.deepEqual([namesOf(second.items), second.metadata.continue], [['shop-2'], '']);
  // The token of another member's list shows what the user may see.
  assert.deepEqual(namesOf((await members.ask(eve, next)).json<Page>().items), []);
  const selected = await members.ask(kim, `${api}/projects?fieldSelector=metadata.name%3Dlab`);
  assert.deepEqual(selected.json<Page>().items, []);
});

test('editors and admins create and delete projects, viewers do not', async () => {
  await using members = await startMembers();
  const { client } = members.platform;
  for (const [person, name] of [
    [kim, 'by-kim'],
    [ed, 'by-ed'],
    [tom, 'by-tom'],
  ] as const) {
    const own = members.clientOf(person);
    await own.create(Project, projectOf(name, 'acme'));
    await untilReason(client, Project, name, 'Ready');
    assert.equal((await own.get(Project, { name })).metadata.name, name);
    await own.delete(Project, { name });
  }
  await assert.rejects(members.clientOf(vi).create(Project, projectOf('by-vi', 'acme')), { code: 'Forbidden' });
  await assert.rejects(members.clientOf(vi).delete(Project, { name: 'shop' }), { code: 'Forbidden' });
});

test('a member uses the credential of the management plane in the projects, with the rights of the role', async () => {
  await using members = await startMembers();
  const path = '/projects/shop/control-plane';
  await untilBound(members.platform.inside('shop'), 'editor', 'ed');
  const create = (client: Client, name: string) =>
    client.create(ConfigMap, { metadata: { namespace: 'default', name } });
  await create(members.clientOf(ed, path), 'from-ed');
  await create(members.clientOf(tom, path), 'from-tom');
  const viewer = members.clientOf(vi, path);
  assert.equal((await viewer.get(ConfigMap, { namespace: 'default', name: 'from-ed' })).metadata.name, 'from-ed');
  await assert.rejects(create(viewer, 'from-vi'), { code: 'Forbidden' });
});

test('the quota of an organization holds against concurrent creations', async () => {
  await using members = await startMembers();
  const body = { spec: { projectsMax: 5 } };
  await members.platform.client.patch(Organization, { name: 'acme' }, { type: 'merge', body });
  const own = members.clientOf(ed);
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      own.create(Project, projectOf(`many-${at}`, 'acme')).then(
        () => 'created',
        (error: unknown) => (hasCode(error, 'Forbidden') ? 'refused' : String(error)),
      ),
    ),
  );
  assert.equal(outcomes.filter((one) => one === 'created').length, 3);
  assert.equal(outcomes.filter((one) => one === 'refused').length, 17);
  assert.equal((await own.list(Project)).items.length, 5);
});

test('a watch has the events of visible projects, and ends with 410 when the member is removed or added', async () => {
  await using members = await startMembers();
  const { client } = members.platform;
  const own = members.clientOf(vi);
  const { resourceVersion } = await own.list(Project);
  const seen: string[] = [];
  const watching = (async () => {
    for await (const event of own.watch(Project, { resourceVersion, allowWatchBookmarks: true })) {
      if (event.type !== 'BOOKMARK') seen.push(`${event.type} ${event.object.metadata.name}`);
    }
  })();
  const ended = assert.rejects(watching, { code: 'Expired' });
  await members.clientOf(eve).create(Project, projectOf('lab-2', 'globex'));
  await members.clientOf(ed).create(Project, projectOf('shop-3', 'acme'));
  await untilReason(client, Project, 'shop-3', 'Ready');
  await client.delete(OrganizationMembership, { namespace: 'organization-acme', name: 'vi' });
  await ended;
  assert.equal(seen[0], 'ADDED shop-3');
  assert.deepEqual(
    seen.filter((one) => !one.endsWith('shop-3')),
    [],
  );
  await assert.rejects(own.list(Project), { code: 'Forbidden' });
  // A client that resumes from the old revision must list again, too.
  await createMembership(client, 'vi', 'globex', { userRef: { name: 'vi' } });
  await members.untilStatus(200, vi, `${api}/projects`);
  const resumed = own.watch(Project, { resourceVersion });
  await assert.rejects(
    async () => {
      for await (const { type } of resumed) assert.fail(`${type} before the list`);
    },
    { code: 'Expired' },
  );
  assert.deepEqual(namesOf((await own.list(Project)).items), ['lab', 'lab-2']);
});

test('a watch reports the deletion of a visible project', async () => {
  await using members = await startMembers();
  const own = members.clientOf(kim);
  const { resourceVersion } = await own.list(Project);
  await members.clientOf(eve).delete(Project, { name: 'lab' });
  await own.delete(Project, { name: 'shop-2' });
  for await (const event of own.watch(Project, { resourceVersion })) {
    assert.notEqual(event.type === 'BOOKMARK' ? '' : event.object.metadata.name, 'lab');
    if (event.type === 'DELETED') break;
  }
});

test('a new member enters the projects within one change of the membership', async () => {
  await using members = await startMembers();
  const { client } = members.platform;
  const target = '/projects/shop/control-plane/version';
  assert.equal((await members.ask(lee, target)).status, 404);
  await createMembership(client, 'lee', 'acme', { userRef: { name: 'lee' }, roles: [{ name: 'viewer' }] });
  await members.untilStatus(200, lee, target);
  await client.delete(OrganizationMembership, { namespace: 'organization-acme', name: 'lee' });
  await members.untilStatus(404, lee, target);
});
