import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { User } from '../../auth/user.ts';
import { requestInfo } from '../../request/info.ts';
import { byPrecedence, distinguished, matches, readFlowSchema, rulesFor } from './flow-schema.ts';

const user = (name: string, ...groups: string[]): User => ({ name, uid: '', groups, extra: {} });
const schema = (rule: object, rest: object = {}, name = 'x') =>
  readFlowSchema({
    metadata: { name, uid: `uid-of-${name}` },
    spec: { matchingPrecedence: 500, priorityLevelConfiguration: { name: 'level' }, rules: [rule], ...rest },
  } as never);
const resources = (rest: object = {}) => ({
  verbs: ['*'],
  apiGroups: ['*'],
  resources: ['*'],
  clusterScope: true,
  namespaces: ['*'],
  ...rest,
});
const everybody = [{ kind: 'Group', group: { name: '*' } }];
const robot = 'system:serviceaccount:apps:robot';

const doesMatch = (rule: object, who: User, method: string, path: string, isWatch = false): boolean =>
  matches(rulesFor(schema(rule), who), requestInfo(method, path, isWatch));

describe('subjects', () => {
  const subject = (kind: string, rest: object) => ({
    subjects: [{ kind, ...rest }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  });
  for (const [what, rule, who, expected] of [
    ['a user by name', subject('User', { user: { name: 'jane' } }), user('jane'), true],
    ['not another one', subject('User', { user: { name: 'jane' } }), user('joe'), false],
    ['every user', subject('User', { user: { name: '*' } }), user('joe'), true],
    ['a group', subject('Group', { group: { name: 'dev' } }), user('joe', 'ops', 'dev'), true],
    ['not a user of the same name', subject('Group', { group: { name: 'dev' } }), user('dev'), false],
    ['every group, also without one', subject('Group', { group: { name: '*' } }), user('joe'), true],
    [
      'an account',
      subject('ServiceAccount', { serviceAccount: { namespace: 'apps', name: 'robot' } }),
      user(robot),
      true,
    ],
    [
      'all accounts',
      subject('ServiceAccount', { serviceAccount: { namespace: 'apps', name: '*' } }),
      user(robot),
      true,
    ],
    [
      'not of others',
      subject('ServiceAccount', { serviceAccount: { namespace: 'app', name: '*' } }),
      user(robot),
      false,
    ],
    ['what has nobody', subject('User', {}), user('jane'), false],
  ] as const) {
    test(`${what}: ${expected}`, () => assert.equal(doesMatch(rule, who, 'GET', '/metrics'), expected));
  }
});

describe('resources and paths', () => {
  const about = (rest: object) => ({ subjects: everybody, resourceRules: [resources(rest)] });
  const paths = (...nonResourceURLs: string[]) => ({
    subjects: everybody,
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs }],
  });
  const pods = '/api/v1/namespaces/default/pods';
  for (const [rule, method, path, expected] of [
    [about({}), 'GET', pods, true],
    [about({}), 'GET', '/metrics', false],
    [about({ verbs: ['list'] }), 'GET', pods, true],
    [about({ verbs: ['list'] }), 'GET', `${pods}/a`, false],
    [about({ verbs: ['create', 'delete'] }), 'POST', pods, true],
    [about({ verbs: ['delete'] }), 'DELETE', pods, false],
    [about({ apiGroups: ['apps'] }), 'GET', pods, false],
    [about({ apiGroups: [''] }), 'GET', pods, true],
    [about({ resources: ['pods'] }), 'GET', `${pods}/a`, true],
    [about({ resources: ['pods'] }), 'GET', `${pods}/a/status`, false],
    [about({ resources: ['pods/status'] }), 'GET', `${pods}/a/status`, true],
    [about({ resources: ['pods/status'] }), 'GET', `${pods}/a`, false],
    [about({ namespaces: ['default'] }), 'GET', pods, true],
    [about({ namespaces: ['other'] }), 'GET', pods, false],
    [about({ namespaces: [] }), 'GET', '/api/v1/pods', true],
    [about({ clusterScope: false }), 'GET', '/api/v1/pods', false],
    [about({ clusterScope: false }), 'GET', '/api/v1/nodes/a', false],
    [about({ clusterScope: false }), 'GET', '/api/v1/namespaces/default', true],
    [about({ clusterScope: false }), 'GET', '/api/v1/namespaces', false],
    [paths('/metrics'), 'GET', '/metrics', true],
    [paths('/metrics'), 'POST', '/metrics', false],
    [paths('/metrics'), 'GET', '/metrics/slis', false],
    [paths('/metrics/*'), 'GET', '/metrics/slis', true],
    [paths('/metrics/*'), 'GET', '/metrics', false],
    [paths('*'), 'GET', '/anything', true],
    [paths('*'), 'GET', pods, false],
  ] as const) {
    test(`${method} ${path} by ${JSON.stringify(rule).slice(72)}: ${expected}`, () =>
      assert.equal(doesMatch(rule, user('jane'), method, path), expected));
  }

  test('a watch is a verb of its own', () => {
    assert.equal(doesMatch(about({ verbs: ['watch'] }), user('jane'), 'GET', pods, true), true);
    assert.equal(doesMatch(about({ verbs: ['list'] }), user('jane'), 'GET', pods, true), false);
  });
});

test('the lower precedence is asked first, then the name', () => {
  const named = (name: string, matchingPrecedence: number) => schema({ subjects: [] }, { matchingPrecedence }, name);
  const sorted = [named('b', 500), named('c', 9), named('a', 500)].sort(byPrecedence);
  assert.deepEqual(
    sorted.map(({ name }) => name),
    ['c', 'a', 'b'],
  );
});

test('flows are told apart by user, by namespace, or not at all', () => {
  const by = (type?: string) => schema({ subjects: everybody }, type ? { distinguisherMethod: { type } } : {});
  const info = requestInfo('GET', '/api/v1/namespaces/default/pods', false);
  assert.equal(distinguished(by('ByUser'), user('jane'), info), 'jane');
  assert.equal(distinguished(by('ByNamespace'), user('jane'), info), 'default');
  assert.equal(distinguished(by('ByNamespace'), user('jane'), requestInfo('GET', '/metrics', false)), '');
  assert.equal(distinguished(by(), user('jane'), info), '');
});
