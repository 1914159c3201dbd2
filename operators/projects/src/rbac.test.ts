import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rights } from '@hangar/testkit';
import { Organization, Project } from './api/index.ts';
import { projectsOperatorRules } from './rbac.ts';
import {
  createMembership,
  createOrganization,
  createProject,
  startTestPlatform,
  until,
  untilReason,
} from './testing/platform.ts';

/** Servers require the first two with OwnerReferencesPermissionEnforcement. Only dedicated control planes need the Secrets. */
const notUsedHere = [
  'update organizations/finalizers.resourcemanager.miloapis.com',
  'update projects/finalizers.resourcemanager.miloapis.com',
  'get secrets',
];

test('the permissions of the controllers are enough, and none is unused', async () => {
  const rights = new Rights();
  await using platform = await startTestPlatform({ rights });
  platform.start();
  const { client } = platform;
  await createOrganization(client, 'acme', { controlPlaneClassRef: { name: 'missing' } });
  await createProject(client, 'shop', 'acme');
  await untilReason(client, Project, 'shop', 'ControlPlaneNotReady');
  const body = { spec: { controlPlaneClassRef: null } };
  await client.patch(Organization, { name: 'acme' }, { type: 'merge', body });
  await createMembership(client, 'kim', 'acme', { userRef: { name: 'kim' }, roles: [{ name: 'viewer' }] });
  await untilReason(client, Project, 'shop', 'Ready');
  await client.delete(Project, { name: 'shop' });
  await client.delete(Organization, { name: 'acme' });
  await until(client, Organization, { name: 'acme' }, (one) => one === undefined);
  assert.deepEqual([rights.refused, rights.unused(projectsOperatorRules)], [[], notUsedHere]);
});
