import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceRequest } from '../../../request/info.ts';
import type { Policy } from './policy.ts';
import { RbacAuthorizer } from './rbac-authorizer.ts';

const jane = { name: 'jane', uid: '', groups: [], extra: {} };
const question: ResourceRequest = {
  isResource: true,
  verb: 'get',
  group: '',
  version: 'v1',
  resource: 'pods',
  namespace: 'default',
  name: 'a',
  subresource: '',
  rest: '',
};

/** Counts lookups of grants in a namespace. */
function counting(rule: object = {}) {
  const asked = { times: 0 };
  const source = (): string => 'ClusterRoleBinding "b"';
  const rules = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], ...rule }];
  const policy = {
    isReady: true,
    generation: 1,
    grants: (_: unknown, scope: string) => {
      if (scope !== '') asked.times++;
      return scope === '' ? [{ rules, source }] : [];
    },
  };
  return { asked, authorizer: new RbacAuthorizer(policy as unknown as Policy) };
}

test('what was concluded is kept, of questions of a usual length', () => {
  const { asked, authorizer } = counting();
  for (let at = 0; at < 3; at++) void authorizer.authorize({ ...jane }, question);
  assert.equal(asked.times, 1);
});

test('questions that are too long to be kept are answered, each time anew', () => {
  const long = 'x'.repeat(1_001);
  for (const [user, info] of [
    [{ ...jane, name: long }, question],
    [jane, { ...question, namespace: long }],
  ] as const) {
    const { asked, authorizer } = counting();
    for (let at = 0; at < 3; at++) {
      assert.equal((authorizer.authorize({ ...user }, info) as { decision: string }).decision, 'allow');
    }
    assert.equal(asked.times, 3);
  }
});

test('two questions whose texts look the same when they are joined are two', () => {
  const { authorizer } = counting({ apiGroups: ['a b'] });
  const decide = (info: ResourceRequest): unknown =>
    (authorizer.authorize(jane, info) as { decision: string }).decision;
  assert.equal(decide({ ...question, group: 'a b', namespace: 'c' }), 'allow');
  assert.equal(decide({ ...question, group: 'a', namespace: 'b c' }), 'no opinion');
  assert.equal(decide({ ...question, group: 'a b', namespace: 'c' }), 'allow');
});
