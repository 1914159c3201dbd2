/** Attacks of users on organizations and projects of others. Writes by which a member would get more rights. */

import { after, before, describe } from 'node:test';
import { projectOf, runCases } from '../testing/cases.ts';
import { api, ed, kim, startMembers, stranger, vi } from '../testing/members.ts';
import type { Asked, Members } from '../testing/members.ts';

let members: Members;
before(async () => {
  members = await startMembers();
});
after(async () => members[Symbol.asyncDispose]());

describe('escalation by a member', () => {
  const create = (body: object): Asked & { target: string } => ({ target: `${api}/projects`, method: 'POST', body });
  const own = `${api}/namespaces/organization-acme/organizationmemberships`;
  const owner = { apiVersion: 'v1', kind: 'Namespace', name: 'default', uid: '1' };
  runCases(
    () => members,
    [
      { name: 'a project in another organization', person: kim, ...create(projectOf('p1', 'globex')), status: 403 },
      { name: 'a project in an unknown organization', person: kim, ...create(projectOf('p2', 'nowhere')), status: 403 },
      {
        name: 'a project with finalizers',
        person: kim,
        ...create(projectOf('p3', 'acme', { finalizers: ['a.b/c'] })),
        status: 403,
      },
      {
        name: 'a project with owners',
        person: kim,
        ...create(projectOf('p4', 'acme', { ownerReferences: [owner] })),
        status: 403,
      },
      { name: 'a project with a reserved name', person: kim, ...create(projectOf('system', 'acme')), status: 422 },
      {
        name: 'a project with a name that starts like those of the platform',
        person: kim,
        ...create(projectOf('kube-shop', 'acme')),
        status: 422,
      },
      {
        name: 'a project with the name of another control plane',
        person: kim,
        ...create(projectOf('lab', 'acme')),
        status: 409,
      },
      { name: 'a project of a viewer', person: vi, ...create(projectOf('p5', 'acme')), status: 403 },
      {
        name: 'a project of a user without organization',
        person: stranger,
        ...create(projectOf('p6', 'acme')),
        status: 403,
      },
      {
        name: 'a project by apply',
        person: kim,
        target: `${api}/projects/p7?fieldManager=a`,
        method: 'PATCH',
        body: projectOf('p7', 'acme'),
        headers: { 'content-type': 'application/apply-patch+yaml' },
        status: 403,
      },
      {
        name: 'another owner of an own project',
        person: kim,
        target: `${api}/projects/shop`,
        method: 'PATCH',
        body: { spec: { ownerRef: { name: 'globex' } } },
        status: 403,
      },
      {
        name: 'an own project without its finalizers',
        person: kim,
        target: `${api}/projects/shop`,
        method: 'PATCH',
        body: { metadata: { finalizers: null } },
        status: 403,
      },
      {
        name: 'the status of an own project',
        person: kim,
        target: `${api}/projects/shop/status`,
        method: 'PATCH',
        body: { status: {} },
        status: 403,
      },
      {
        name: 'a deletion that orphans the control plane',
        person: kim,
        target: `${api}/projects/shop`,
        method: 'DELETE',
        body: { propagationPolicy: 'Orphan' },
        status: 403,
      },
      {
        name: 'a deletion that orphans the control plane, by the old option',
        person: kim,
        target: `${api}/projects/shop`,
        method: 'DELETE',
        body: { orphanDependents: true },
        status: 403,
      },
      {
        name: 'more projects for the organization',
        person: kim,
        target: `${api}/organizations/acme`,
        method: 'PATCH',
        body: { spec: { projectsMax: 1000 } },
        status: 403,
      },
      {
        name: 'another class',
        person: kim,
        target: `${api}/organizations/acme`,
        method: 'PATCH',
        body: { spec: { controlPlaneClassRef: { name: 'x' } } },
        status: 403,
      },
      {
        name: 'a new organization',
        person: kim,
        target: `${api}/organizations`,
        method: 'POST',
        body: { metadata: { name: 'mine' } },
        status: 403,
      },
      {
        name: 'another role',
        person: ed,
        target: `${own}/ed`,
        method: 'PATCH',
        body: { spec: { roles: [{ name: 'admin' }] } },
        status: 403,
      },
      {
        name: 'the control plane of an own project',
        person: kim,
        target: '/apis/controlplane.kplane.dev/v1alpha1/controlplanes/shop',
        status: 403,
      },
      {
        name: 'the tenant of an own project',
        person: kim,
        target: '/apis/tenancy.hangar.dev/v1alpha1/tenants/shop',
        method: 'DELETE',
        status: 403,
      },
      {
        name: 'impersonation in the management plane',
        person: kim,
        target: `${api}/projects`,
        headers: { 'impersonate-user': 'eve' },
        status: 403,
      },
      {
        name: 'impersonation of a group',
        person: kim,
        target: `${api}/projects`,
        headers: { 'impersonate-user': 'kim', 'impersonate-group': 'system:masters' },
        status: 403,
      },
      {
        name: 'headers of a front proxy',
        person: stranger,
        target: `${api}/projects`,
        headers: { 'x-remote-user': 'kim', 'x-remote-group': 'system:masters' },
        status: 403,
      },
    ],
  );
});
