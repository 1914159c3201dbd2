/** Attacks of users on organizations and projects of others. Extras that name the project of a request. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { configMaps } from '../testing/cases.ts';
import { administrator, kim, projectRoutes, startMembers } from '../testing/members.ts';
import type { Answered, Asked, Members, Person } from '../testing/members.ts';

let members: Members;
before(async () => {
  members = await startMembers();
});
after(async () => members[Symbol.asyncDispose]());

describe('the extras that name the project', () => {
  const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const extraOf = async (person: Person, path: string, headers: Asked['headers'] = {}) => {
    const answer = await members.ask(person, `${path}${review}`, { method: 'POST', body: {}, headers });
    if (answer.status !== 201) return answer.status;
    return answer.json<{ status: { userInfo: { extra?: object } } }>().status.userInfo.extra ?? {};
  };
  const parent = (name: string) => ({
    'iam.miloapis.com/parent-api-group': ['resourcemanager.miloapis.com'],
    'iam.miloapis.com/parent-name': [name],
    'iam.miloapis.com/parent-type': ['Project'],
  });
  const forged = (key: string, value: string) => ({
    'impersonate-user': 'kim',
    [`impersonate-extra-iam.miloapis.com%2f${key}`]: value,
  });

  for (const [at, route] of projectRoutes('shop').entries()) {
    test(`are set by route ${at + 1}, for members, administrators and impersonated users`, async () => {
      assert.deepEqual(await extraOf(kim, route), parent('shop'));
      assert.deepEqual(await extraOf(administrator, route), parent('shop'));
      assert.deepEqual(await extraOf(administrator, route, { 'impersonate-user': 'a' }), parent('shop'));
      const other = { 'impersonate-user': 'a', 'impersonate-extra-scopes': 'b' };
      assert.deepEqual(await extraOf(administrator, route, other), { ...parent('shop'), scopes: ['b'] });
    });
  }

  test('are absent in the management plane and in control planes that are not projects', async () => {
    assert.deepEqual(await extraOf(administrator, ''), {});
    assert.deepEqual(await extraOf(administrator, '/projects/plain/control-plane'), {});
  });

  for (const key of ['parent-name', 'parent-type', 'parent-api-group', 'PARENT-NAME', 'parent-other']) {
    test(`cannot be impersonated: ${key}`, async () => {
      for (const path of ['', ...projectRoutes('shop'), '/projects/plain/control-plane']) {
        assert.equal(await extraOf(administrator, path, forged(key, 'lab')), 403);
      }
    });
  }

  test('are seen by policies', async () => {
    const inside = '/projects/shop/control-plane';
    const policies = `${inside}/apis/admissionregistration.k8s.io/v1`;
    const expression =
      "request.userInfo.extra['iam.miloapis.com/parent-name'] == ['shop'] && request.userInfo.extra['iam.miloapis.com/parent-type'] == ['Project']";
    const rules = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
    const policy = {
      metadata: { name: 'parent' },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: { resourceRules: [rules] },
        validations: [{ expression: `!(${expression})`, message: 'the extras are there' }],
      },
    };
    const binding = { metadata: { name: 'parent' }, spec: { policyName: 'parent', validationActions: ['Deny'] } };
    const post = (target: string, body: object) => members.ask(kim, target, { method: 'POST', body });
    assert.equal((await post(`${policies}/validatingadmissionpolicies`, policy)).status, 201);
    assert.equal((await post(`${policies}/validatingadmissionpolicybindings`, binding)).status, 201);
    let answer: Answered;
    // Policies take effect after a moment.
    for (let at = 0; ; at++) {
      answer = await post(`${inside}${configMaps}`, { metadata: { name: `try-${at}` } });
      if (answer.status !== 201) break;
    }
    assert.match(answer.text, /the extras are there/);
  });
});
