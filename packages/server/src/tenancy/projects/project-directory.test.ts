import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import { openMemoryStore } from '@hangar/store';
import type { Revision, Store } from '@hangar/store';
import type { User } from '../../auth/user.ts';
import { ProjectDirectory, subjectsOf } from './project-directory.ts';
import { SubjectChanges } from './subject-changes.ts';

const prefix = '/registry/clusters/root/resourcemanager.miloapis.com/';
const user = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: {} });
const kim = user('kim');

class World implements AsyncDisposable {
  readonly store: Store;
  directory: ProjectDirectory;

  constructor(store: Store) {
    this.store = store;
    this.directory = this.#newDirectory();
  }

  #newDirectory(): ProjectDirectory {
    return new ProjectDirectory({ store: this.store, clock: systemClock, storePrefix: '/registry' });
  }

  static async open(): Promise<World> {
    const world = new World(await openMemoryStore({}));
    await world.directory.start();
    return world;
  }

  /** Loads all objects again, as after a restart. */
  async restart(): Promise<void> {
    this.directory.close();
    this.directory = this.#newDirectory();
    await this.directory.start();
  }

  /** Undefined: deletes the object. Resolves when the directory has the change. */
  async put(key: string, object: object | undefined): Promise<Revision> {
    const value = Buffer.from(JSON.stringify(object ?? {}));
    const full = prefix + key;
    const { revision } = await this.store.commit([
      object ? { type: 'put', key: full, value } : { type: 'delete', key: full },
    ]);
    await this.directory.reached(revision);
    return revision;
  }

  organization(name: string, isReady = true): Promise<Revision> {
    const status = isReady ? { namespace: `organization-${name}` } : {};
    return this.put(`organizations/${name}`, { spec: { projectsMax: 2 }, status });
  }

  member(name: string, spec: object, namespace = 'organization-acme', metadata: object = {}): Promise<Revision> {
    const object = { metadata: { namespace, name, ...metadata }, spec: { organizationRef: { name: 'acme' }, ...spec } };
    return this.put(`organizationmemberships/${namespace}/${name}`, object);
  }

  project(name: string, owner: string, status: object = {}): Promise<Revision> {
    return this.put(`projects/${name}`, { spec: { ownerRef: { name: owner } }, status });
  }

  organizationsOf(one: User): string[] {
    return [...this.directory.organizationsOf(one)];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.directory.close();
    await this.store.close();
  }
}

test('members are users and groups of a ready organization', async () => {
  await using world = await World.open();
  await world.organization('acme', false);
  await world.member('kim', { userRef: { name: 'kim' }, roles: [{ name: 'admin' }] });
  await world.member('team', { groupRef: { name: 'team' }, roles: [{ name: 'editor' }] });
  await world.project('shop', 'acme');
  assert.deepEqual(world.organizationsOf(kim), []);
  await world.organization('acme');
  assert.deepEqual(world.organizationsOf(kim), ['acme']);
  const both = user('kim', 'team', 'other');
  assert.deepEqual([...world.directory.rolesIn('acme', both)!].toSorted(), ['admin', 'editor']);
  assert.deepEqual([...world.directory.rolesIn('acme', user('x', 'team'))!], ['editor']);
  assert.equal(world.directory.rolesIn('acme', user('team', 'kim')), undefined);
  await world.restart();
  assert.deepEqual(world.organizationsOf(kim), ['acme']);
  assert.deepEqual([...world.directory.projectsOf('acme')], ['shop']);
});

test('members belong to the tenant that the control plane of their project owns, and to no other tenant of its name', async () => {
  await using world = await World.open();
  await world.organization('acme');
  await world.member('kim', { userRef: { name: 'kim' }, roles: [{ name: 'admin' }] });
  await world.project('shop', 'acme');
  const owned = { path: 'shop', controlPlaneUid: 'one' };
  assert.equal(world.directory.isMember(owned, kim), false);
  assert.equal(world.directory.isMember({ path: 'shop' }, kim), false);
  await world.project('shop', 'acme', { controlPlaneRef: { name: 'shop', uid: 'one' } });
  assert.equal(world.directory.isMember(owned, kim), true);
  assert.equal(world.directory.isMember(owned, user('lee')), false);
  for (const other of [{ path: 'shop', controlPlaneUid: 'two' }, { path: 'shop' }, { path: 'none' }, undefined]) {
    assert.equal(world.directory.isMember(other, kim), false);
    assert.equal(world.directory.isProject(other), false);
  }
});

test('memberships without effect make no member', async () => {
  await using world = await World.open();
  await world.organization('acme');
  await world.member('a', { userRef: { name: 'kim' } }, 'default');
  await world.member('b', { userRef: { name: 'kim' } }, 'organization-other');
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  await world.member('c', { userRef: { name: 'kim' } }, 'organization-acme', { deletionTimestamp });
  await world.member('d', { userRef: { name: 'system:admin' } });
  await world.member('e', { groupRef: { name: 'system:authenticated' } });
  assert.deepEqual(world.organizationsOf(kim), []);
  assert.deepEqual(world.organizationsOf(user('system:admin', 'system:authenticated')), []);
});

test('a membership in a namespace named like the organization does not replace the membership with its name', async () => {
  await using world = await World.open();
  await world.organization('acme');
  await world.member('kim', { userRef: { name: 'kim' }, roles: [{ name: 'admin' }] });
  await world.member('kim', { userRef: { name: 'lee' } }, 'acme');
  assert.deepEqual([world.organizationsOf(kim), world.organizationsOf(user('lee'))], [['acme'], []]);
  await world.put('organizationmemberships/acme/kim', undefined);
  assert.deepEqual(world.organizationsOf(kim), ['acme']);
});

test('a change of a membership is reported with its revision, also of a change of the user', async () => {
  await using world = await World.open();
  await world.organization('acme');
  const start = await world.project('shop', 'acme');
  const { changes } = world.directory;
  let calls = 0;
  const end = changes.follow(subjectsOf(kim), () => calls++);
  const added = await world.member('kim', { userRef: { name: 'kim' } });
  assert.ok(changes.since(subjectsOf(kim), start) && !changes.since(subjectsOf(kim), added));
  await world.member('kim', { userRef: { name: 'kim' }, roles: [{ name: 'viewer' }] });
  assert.equal(calls, 1);
  await world.member('kim', { userRef: { name: 'lee' } });
  assert.equal(calls, 2);
  assert.deepEqual([world.organizationsOf(kim), world.organizationsOf(user('lee'))], [[], ['acme']]);
  end();
  const removed = await world.put('organizationmemberships/organization-acme/kim', undefined);
  assert.equal(calls, 2);
  assert.ok(!changes.since(subjectsOf(kim), removed));
  assert.ok(changes.since(subjectsOf(user('lee')), start));
});

test('an object that is not valid is ignored', async () => {
  await using world = await World.open();
  await world.put('projects/shop', {});
  await world.put('organizationmemberships/organization-acme/x', { spec: null });
  await world.put('other/x', {});
  assert.equal(world.directory.organizationOf('shop'), undefined);
});

test('too many records of changes are dropped, and all clients list again', () => {
  const changes = new SubjectChanges(2);
  for (const [at, name] of ['a', 'b', 'c'].entries()) changes.of(`User ${name}`, (10 + at) as Revision);
  assert.ok(changes.since(['User x'], 11 as Revision));
  assert.ok(!changes.since(['User x'], 12 as Revision));
});
