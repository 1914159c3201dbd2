import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@hangar/api';
import { systemClock } from '@hangar/core';
import { ManagementDirectory } from './directory.ts';

const tenants = '/apis/tenancy.hangar.dev/v1alpha1/tenants';
const projects = '/apis/resourcemanager.miloapis.com/v1alpha1/projects';
const tenantTime = '2026-03-01T00:00:00Z';
const sinceUs = Date.parse(tenantTime) * 1_000;

const tenant = (name: string, controlPlaneUid?: string): JsonObject => ({
  metadata: {
    name,
    creationTimestamp: tenantTime,
    ...(controlPlaneUid !== undefined && { annotations: { 'controlplane.kplane.dev/uid': controlPlaneUid } }),
  },
});

const project = (name: string, organization: string, controlPlaneUid?: string): JsonObject => ({
  metadata: { name, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { ownerRef: { kind: 'Organization', name: organization } },
  ...(controlPlaneUid !== undefined && { status: { controlPlaneRef: { name, uid: controlPlaneUid } } }),
});

/** A directory of a management plane with these objects, which lists projects in pages of two. */
function directoryOf(all: { readonly tenants: readonly JsonObject[]; readonly projects: readonly JsonObject[] }) {
  const nameOf = (object: JsonObject): string => (object['metadata'] as { name: string }).name;
  const named = (objects: readonly JsonObject[], path: string): JsonObject | undefined =>
    objects.find((one) => nameOf(one) === path.slice(path.lastIndexOf('/') + 1));
  return new ManagementDirectory((path) => {
    const url = new URL(path, 'https://127.0.0.1');
    if (url.pathname.startsWith(`${tenants}/`)) return Promise.resolve(named(all.tenants, url.pathname));
    if (url.pathname !== projects) return Promise.resolve(named(all.projects, url.pathname));
    const from = Number(url.searchParams.get('continue'));
    const next = from + 2 < all.projects.length ? String(from + 2) : '';
    return Promise.resolve({ items: all.projects.slice(from, from + 2), metadata: { continue: next } });
  }, systemClock);
}

test('a project has the control plane that its status and the tenant of its name agree on, from the creation of the tenant', async () => {
  const directory = directoryOf({
    tenants: [
      tenant('shop', 'one'),
      tenant('lab', 'two'),
      tenant('foreign', 'three'),
      tenant('copied', 'four'),
      tenant('plain'),
    ],
    projects: [
      project('shop', 'acme', 'one'),
      // The name is used by a control plane of another owner: the project gets no control plane.
      project('foreign', 'acme'),
      project('plain', 'acme'),
      project('copied', 'acme', 'another'),
      project('gone', 'acme', 'five'),
      project('lab', 'acme', 'two'),
      project('other', 'rival', 'six'),
    ],
  });
  const shop = { name: 'shop', sinceUs };
  assert.deepEqual(await directory.planesOf('acme'), [shop, { name: 'lab', sinceUs }]);
  assert.deepEqual(await directory.planeOf('shop'), shop);
  for (const name of ['foreign', 'plain', 'copied', 'gone', 'unknown', '../tenants/shop']) {
    assert.equal(await directory.planeOf(name), undefined, name);
  }
});
