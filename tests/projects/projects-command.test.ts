/** `hangar projects`, without the operator: the test writes the status of projects. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { RestClient } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { installCrd } from '@hangar/testkit';
import { definitions } from '../../operators/projects/src/api/generated/index.ts';
import { Organization } from '../../operators/projects/src/index.ts';
import { createMembership } from '../../operators/projects/src/testing/platform.ts';
import { Project } from '../../apps/cli/src/kinds.ts';
import { openTestWorld } from '../../apps/cli/src/testing/test-session.ts';

async function openProjectsWorld() {
  const world = await openTestWorld();
  for (const definition of definitions) await installCrd(world.client, definition);
  return world;
}

async function setCondition(client: Client, name: string, condition: object): Promise<void> {
  const conditions = [{ lastTransitionTime: '2026-01-01T00:00:00Z', message: '', ...condition }];
  await client.status.patch(Project, { name }, { type: 'merge', body: { status: { conditions } } });
}

/** Resolves when the project exists. */
async function untilCreated(client: Client, name: string): Promise<void> {
  const { items, resourceVersion } = await client.list(Project);
  if (items.length > 0) return;
  for await (const event of client.watch(Project, { resourceVersion })) {
    if (event.type === 'ADDED' && event.object.metadata.name === name) return;
  }
}

const draft = (name: string, organization: string) => ({
  metadata: { name },
  spec: { ownerRef: { kind: 'Organization' as const, name: organization } },
});

test('list shows projects, those of an organization, and the reason why one is not ready', async () => {
  await using bare = await openTestWorld();
  assert.match((await bare.run('projects', 'list')).err, /does not serve Projects[^]*up --projects/);
  await using world = await openProjectsWorld();
  const { client } = world;
  assert.match((await world.run('projects', 'list')).err, /there is no project/);
  await client.create(Project, draft('shop', 'acme'));
  await client.create(Project, draft('blog', 'other'));
  await setCondition(client, 'shop', { type: 'Ready', status: 'True', reason: 'Ready' });
  await setCondition(client, 'blog', { type: 'Ready', status: 'False', reason: 'QuotaExceeded', message: 'too many' });
  const rows = (await world.run('projects', 'list')).out.split('\n').map((line) => line.split(/ {2,}/));
  const shown = rows.slice(0, 3).map(([name, organization, ready, , message]) => [name, organization, ready, message]);
  assert.deepEqual(shown.slice(1), [
    ['blog', 'other', 'False', 'too many'],
    ['shop', 'acme', 'True', undefined],
  ]);
  assert.doesNotMatch((await world.run('projects', 'list', '--organization', 'acme')).out, /blog/);
  assert.equal(JSON.parse((await world.run('projects', 'get', 'shop', '-o', 'json')).out).metadata.name, 'shop');
  assert.match((await world.run('projects', 'get', 'missing')).err, /there is no project "missing"/);
});

test('create waits until the project is ready, and reports why it is not', async () => {
  await using world = await openProjectsWorld();
  const { client } = world;
  const creating = world.run('projects', 'create', 'shop', '--organization', 'acme');
  await untilCreated(client, 'shop');
  await setCondition(client, 'shop', { type: 'Ready', status: 'True', reason: 'Ready' });
  const { code, out } = await creating;
  assert.deepEqual(
    [code, /project shop is ready; its kubeconfig: hangar projects kubeconfig shop/.test(out)],
    [0, true],
    out,
  );
  assert.match((await world.run('projects', 'create', 'shop', '--organization', 'a')).err, /"shop" already exists/);
  const late = await world.run('projects', 'create', 'slow', '--organization', 'acme', '--timeout', '1ms');
  assert.equal(late.code, 1);
  assert.match(late.err, /timed out after 0.001 s waiting for project slow/);
});

test('delete requires a confirmation, and waits until the project is deleted', async () => {
  await using world = await openProjectsWorld();
  const { client } = world;
  await client.create(Project, { ...draft('shop', 'acme'), metadata: { name: 'shop', finalizers: ['example.com/x'] } });
  assert.match((await world.run('projects', 'delete', 'shop')).err, /was not deleted: its data would be destroyed/);
  const blocked = await world.run('projects', 'delete', 'shop', '--yes', '--timeout', '1ms');
  assert.match(blocked.err, /timed out after 0.001 s waiting for the deletion of project shop/);
  assert.ok((await client.get(Project, { name: 'shop' })).metadata.deletionTimestamp);
  await client.patch(Project, { name: 'shop' }, { type: 'merge', body: { metadata: { finalizers: null } } });
  await client.create(Project, draft('free', 'acme'));
  const deleted = await world.run('projects', 'delete', 'free', '--yes');
  assert.deepEqual([deleted.code, deleted.out], [0, 'project free deleted, including all data\n']);
});

test('unknown actions, missing names and options of other actions are errors', async () => {
  await using world = await openTestWorld();
  assert.match((await world.run('projects', 'lst')).err, /"lst" is not an action of projects/);
  assert.match((await world.run('projects', 'create')).err, /projects create requires NAME/);
  assert.match((await world.run('projects', 'create', 'shop')).err, /requires --organization/);
  assert.match((await world.run('projects', 'list', '--yes')).err, /--yes is not an option of projects list/);
});

test('kubeconfig has the address of the project and the credential of the user', async () => {
  await using world = await openProjectsWorld();
  await world.client.create(Project, draft('shop', 'acme'));
  const { code, out, err } = await world.run('projects', 'kubeconfig', 'shop', '-o', 'json');
  assert.equal(code, 0, err);
  const { clusters, users } = JSON.parse(out);
  assert.equal(clusters[0].cluster.server, 'https://127.0.0.1:6443/projects/shop/control-plane');
  assert.deepEqual(users[0].user, { token: 'none' });
  const exec = JSON.parse((await world.run('projects', 'kubeconfig', 'shop', '--exec', '-o', 'json')).out);
  const { command, args } = exec.users[0].user.exec;
  const file = join(world.folder, '.data', 'admin.kubeconfig');
  assert.deepEqual([command, ...args], ['hangar', 'credential', 'shop', '--project', `--kubeconfig=${file}`]);
  const credential = JSON.parse((await world.run(...args)).out);
  assert.equal(credential.status.token, 'none');
  assert.ok(Date.parse(credential.status.expirationTimestamp) > Date.now());
  assert.match((await world.run('projects', 'kubeconfig', 'none')).err, /there is no project "none"/);
  assert.match((await world.run('credential', 'none', '--project')).err, /there is no project "none"/);
  assert.match((await world.run('projects', 'list', '-o', 'x')).err, /--output must be one of: /);
});

test('a member creates, lists and deletes projects, and does not see those of others', async () => {
  await using world = await openProjectsWorld();
  const { client, fleet } = world;
  await client.create(Project, draft('lab', 'globex'));
  await client.create(Namespace, { metadata: { name: 'organization-acme' } });
  await client.create(Organization, { metadata: { name: 'acme' }, spec: {} });
  const status = { status: { namespace: 'organization-acme' } };
  await client.status.patch(Organization, { name: 'acme' }, { type: 'merge', body: status });
  await createMembership(client, 'kim', 'acme', { userRef: { name: 'kim' }, roles: [{ name: 'editor' }] });
  const connect = () => Promise.resolve(new RestClient(fleet.transportOf(undefined, { name: 'kim' })));
  const run = (...words: string[]) => world.runIn({ connect }, 'projects', ...words);
  const created = await run('create', 'shop', '--organization', 'acme', '--no-wait');
  assert.deepEqual([created.code, created.err], [0, '']);
  assert.deepEqual((await run('list', '-o', 'name')).out, 'project.resourcemanager.miloapis.com/shop\n');
  assert.match((await run('create', 'x', '--organization', 'globex')).err, /may not create projects/);
  assert.match((await run('get', 'lab')).err, /there is no project "lab"/);
  assert.match((await run('kubeconfig', 'lab')).err, /there is no project "lab"/);
  assert.equal((await run('delete', 'shop', '--yes')).out, 'project shop deleted, including all data\n');
});
