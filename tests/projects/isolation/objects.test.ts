/** Attacks of users on organizations and projects of others. Objects of the management plane. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { membershipOf, projectOf, runCases, seen } from '../testing/cases.ts';
import { api, kim, startMembers, stranger } from '../testing/members.ts';
import type { Members } from '../testing/members.ts';

let members: Members;
before(async () => {
  members = await startMembers();
});
after(async () => members[Symbol.asyncDispose]());

describe('objects of another organization in the management plane', () => {
  const lab = `${api}/projects/lab`;
  const theirs = `${api}/namespaces/organization-globex/organizationmemberships`;
  runCases(
    () => members,
    [
      { name: 'get a project', person: kim, target: lab, status: 404 },
      {
        name: 'get a project as a table',
        person: kim,
        target: lab,
        status: 404,
        headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' },
      },
      { name: 'get the status of a project', person: kim, target: `${lab}/status`, status: 403 },
      { name: 'delete a project', person: kim, target: lab, method: 'DELETE', status: 404 },
      {
        name: 'patch a project',
        person: kim,
        target: lab,
        method: 'PATCH',
        body: { metadata: { labels: { a: 'b' } } },
        status: 403,
      },
      {
        name: 'update a project',
        person: kim,
        target: lab,
        method: 'PUT',
        body: projectOf('lab', 'acme'),
        status: 403,
      },
      { name: 'delete all projects', person: kim, target: `${api}/projects`, method: 'DELETE', status: 403 },
      { name: 'get an organization', person: kim, target: `${api}/organizations/globex`, status: 404 },
      {
        name: 'patch an organization',
        person: kim,
        target: `${api}/organizations/globex`,
        method: 'PATCH',
        body: { spec: { projectsMax: 0 } },
        status: 403,
      },
      {
        name: 'delete an organization',
        person: kim,
        target: `${api}/organizations/globex`,
        method: 'DELETE',
        status: 403,
      },
      { name: 'get a membership', person: kim, target: `${theirs}/eve`, status: 404 },
      { name: 'delete a membership', person: kim, target: `${theirs}/eve`, method: 'DELETE', status: 403 },
      {
        name: 'join as a member',
        person: kim,
        target: theirs,
        method: 'POST',
        body: membershipOf('organization-globex', 'globex', 'kim'),
        status: 403,
      },
      {
        name: 'read the control plane object',
        person: kim,
        target: '/apis/controlplane.kplane.dev/v1alpha1/controlplanes/lab',
        status: 403,
      },
      {
        name: 'read the tenant object',
        person: kim,
        target: '/apis/tenancy.hangar.dev/v1alpha1/tenants/lab',
        status: 403,
      },
      { name: 'read secrets', person: kim, target: '/api/v1/secrets', status: 403 },
      {
        name: 'all members by all namespaces: stranger',
        person: stranger,
        target: `${api}/organizationmemberships`,
        status: 403,
      },
    ],
  );

  test('lists and watches have no foreign object, whatever the selector', async () => {
    for (const resource of [
      'projects',
      'organizations',
      'organizationmemberships',
      'namespaces/organization-globex/organizationmemberships',
    ]) {
      for (const query of [
        '',
        '?fieldSelector=metadata.name%3Dlab',
        '?labelSelector=!a',
        '?resourceVersion=0',
        '?limit=500',
      ]) {
        const { status, text } = await members.ask(kim, `${api}/${resource}${query}`);
        assert.equal(status, 200, text);
        assert.doesNotMatch(text, /globex|"lab"|"eve"/, `${resource}${query}`);
      }
      const watch =
        '?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
      const { status, text } = await members.ask(kim, `${api}/${resource}${watch}`);
      assert.equal(status, 200, text);
      assert.doesNotMatch(text, /globex|"lab"|"eve"/, resource);
    }
  });

  test('an unknown and a foreign object get the same answer', async () => {
    for (const method of ['GET', 'DELETE']) {
      for (const resource of ['projects', 'organizations']) {
        const [foreign, unknown] = resource === 'projects' ? ['lab', 'none'] : ['globex', 'none'];
        const answers = await Promise.all(
          [foreign, unknown].map((name) => members.ask(kim, `${api}/${resource}/${name}`, { method })),
        );
        assert.equal(seen(answers[0]!, foreign), seen(answers[1]!, unknown));
      }
    }
  });
});
