/** Organizations and projects in `hangar up --projects`, with kubectl. */

import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Platform } from '../platform/testing/platform.ts';

const admin = 'admin.kubeconfig';
const timeout = '--timeout=60s';

const organization = `
apiVersion: resourcemanager.miloapis.com/v1alpha1
kind: Organization
metadata: { name: acme }
spec: { projectsMax: 2 }
`;
const memberships = `
apiVersion: resourcemanager.miloapis.com/v1alpha1
kind: OrganizationMembership
metadata: { name: kim, namespace: organization-acme }
spec: { organizationRef: { name: acme }, userRef: { name: kim }, roles: [{ name: viewer }] }
---
apiVersion: resourcemanager.miloapis.com/v1alpha1
kind: OrganizationMembership
metadata: { name: team, namespace: organization-acme }
spec: { organizationRef: { name: acme }, groupRef: { name: "oidc:team" }, roles: [{ name: editor }] }
`;
const project = (name: string): string => `
apiVersion: resourcemanager.miloapis.com/v1alpha1
kind: Project
metadata: { name: ${name} }
spec: { ownerRef: { kind: Organization, name: acme } }
`;

test('members use the projects of their organization, and a deleted project is drained', async () => {
  await using platform = await Platform.prepare();
  const url = await platform.start('--projects', '--no-demo');
  const kubectl = (...args: readonly string[]): Promise<string> => platform.kubectl(admin, ...args);
  const apply = async (text: string): Promise<void> => {
    const file = join(platform.folder, 'manifest.yaml');
    await writeFile(file, text);
    await kubectl('apply', '--filename', file);
    await rm(file);
  };
  await platform.program.until(() => isServed(kubectl));
  await apply(organization);
  await kubectl('wait', 'organization/acme', '--for=condition=Ready', timeout);
  await apply(memberships);
  await apply(project('shop'));
  await kubectl('wait', 'project/shop', '--for=condition=Ready', timeout);
  for (const path of ['/projects/', '/apis/resourcemanager.miloapis.com/v1alpha1/projects/']) {
    const inside = (...args: readonly string[]) => kubectl('--server', `${url}${path}shop/control-plane`, ...args);
    const can = (verb: string, ...as: readonly string[]): Promise<string> =>
      inside('auth', 'can-i', verb, 'configmaps', ...as).catch(() => 'no');
    assert.match(await can('list', '--as=kim'), /^yes/);
    assert.equal(await can('create', '--as=kim'), 'no');
    assert.match(await can('create', '--as=lee', '--as-group=oidc:team'), /^yes/);
    assert.equal(await can('list', '--as=stranger'), 'no');
  }
  await kubectl('delete', 'organizationmembership', 'kim', '--namespace=organization-acme');
  const shop = ['--server', `${url}/projects/shop/control-plane`];
  const kimMayList = ['auth', 'can-i', 'list', 'configmaps', '--as=kim'];
  await platform.program.until(async () => (await kubectl(...shop, ...kimMayList).catch(() => 'no')) === 'no');

  await kubectl(...shop, 'create', 'namespace', 'web');
  await kubectl(...shop, 'create', 'configmap', 'held', '--namespace=web');
  const finalizers = (text: string): string => `--patch={"metadata":{"finalizers":${text}}}`;
  const held = [...shop, 'patch', 'configmap', 'held', '--namespace=web', '--type=merge'];
  await kubectl(...held, finalizers('["example.com/disk"]'));
  await kubectl('delete', 'project', 'shop', '--wait=false');
  const cleanup = '--output=jsonpath={.status.conditions[?(@.type=="ResourceCleanup")].message}';
  await platform.program.until(async () =>
    (await kubectl('get', 'project', 'shop', cleanup)).includes('ConfigMap "web/held" (finalizers: example.com/disk)'),
  );
  await kubectl(...held, finalizers('null'));
  await kubectl('wait', 'project/shop', '--for=delete', timeout);
  assert.equal(await kubectl('get', 'controlplanes', '--output=name'), '');
  await kubectl('delete', 'organization', 'acme', timeout);
  assert.equal((await platform.program.stop()).code, 0);
});

const isServed = (kubectl: (...args: readonly string[]) => Promise<string>): Promise<boolean> =>
  kubectl('get', 'projects').then(
    () => true,
    () => false,
  );
