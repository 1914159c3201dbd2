/** Attacks of users on organizations and projects of others. Requests to the control planes of projects, by all routes. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Project } from '../../../operators/projects/src/index.ts';
import { until, untilReason } from '../../../operators/projects/src/testing/platform.ts';
import { configMaps, projectOf, runCases, seen } from '../testing/cases.ts';
import { api, eve, kim, projectRoutes, startMembers, stranger, tom } from '../testing/members.ts';
import type { Asked, Members } from '../testing/members.ts';

let members: Members;
before(async () => {
  members = await startMembers();
});
after(async () => members[Symbol.asyncDispose]());

describe('inside the projects of another organization', () => {
  const verbs: readonly (Asked & { verb: string; path: string })[] = [
    { verb: 'get', path: `${configMaps}/kube-root-ca.crt` },
    { verb: 'list', path: configMaps },
    { verb: 'watch', path: `${configMaps}?watch=true&timeoutSeconds=1` },
    { verb: 'create', path: configMaps, method: 'POST', body: { metadata: { name: 'planted' } } },
    { verb: 'patch', path: `${configMaps}/x`, method: 'PATCH', body: { data: { a: 'b' } } },
    { verb: 'update', path: `${configMaps}/x`, method: 'PUT', body: { metadata: { name: 'x' } } },
    { verb: 'delete', path: `${configMaps}/x`, method: 'DELETE' },
    { verb: 'deletecollection', path: configMaps, method: 'DELETE' },
  ];
  for (const { verb, path, ...asked } of verbs) {
    for (const [at, route] of projectRoutes('lab').entries()) {
      test(`${verb} by route ${at + 1} gets the answer of an unknown project`, async () => {
        const unknown = projectRoutes('none')[at]!;
        for (const person of [kim, tom, stranger]) {
          const foreign = seen(await members.ask(person, `${route}${path}`, asked), 'lab');
          assert.equal(foreign, seen(await members.ask(person, `${unknown}${path}`, asked), 'none'));
          assert.match(foreign, /^404 /);
        }
      });
    }
  }
});

test('a project with the name of a foreign control plane gives no access to it', async () => {
  const { platform } = members;
  const created = await members.ask(kim, `${api}/projects`, { method: 'POST', body: projectOf('plain', 'acme') });
  assert.equal(created.status, 201);
  await untilReason(platform.client, Project, 'plain', 'ControlPlaneNotReady');
  for (const route of projectRoutes('plain')) {
    for (const path of ['/version', '/api', configMaps]) {
      assert.equal((await members.ask(kim, `${route}${path}`)).status, 404, path);
    }
  }
  await platform.client.delete(Project, { name: 'plain' });
  await until(platform.client, Project, { name: 'plain' }, (one) => one === undefined);
});

describe('names that look like those of projects', () => {
  const inside = (name: string): string => `/projects/${name}/control-plane/version`;
  runCases(
    () => members,
    [
      { name: 'a control plane that is not a project', person: kim, target: inside('plain'), status: 404 },
      { name: 'the management plane', person: kim, target: inside('root'), status: 404 },
      { name: 'all control planes', person: kim, target: '/projects/*/control-plane/api/v1/configmaps', status: 404 },
      { name: 'an escaped star', person: kim, target: '/projects/%2a/control-plane/api/v1/configmaps', status: 404 },
      { name: 'an escaped name', person: kim, target: inside('%6cab'), status: 404 },
      { name: 'a name in upper case', person: kim, target: inside('SHOP'), status: 404 },
      { name: 'a name with a dot', person: kim, target: inside('shop.'), status: 404 },
      {
        name: 'a path with parents',
        person: kim,
        target: '/projects/shop/control-plane/../../lab/control-plane/version',
        status: 404,
      },
      { name: 'a prefix of a name', person: kim, target: inside('sho'), status: 404 },
      { name: 'a name that starts with that of an own project', person: eve, target: inside('shop-2'), status: 404 },
      { name: 'an own project, for comparison', person: kim, target: inside('shop'), status: 200 },
    ],
  );
});
