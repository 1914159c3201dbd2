import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestInfo } from '../request/info.ts';
import { AuditPolicy, AuditPolicyError } from './policy.ts';

const user = { name: 'jane', uid: '', groups: ['developers', 'system:authenticated'], extra: {} };

const policy = (rules: string): AuditPolicy =>
  AuditPolicy.read(`apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n${rules}`);

const levelOf = (rule: string, method: string, path: string, isWatch = false): string =>
  policy(`- {level: Metadata, ${rule}}`).verdict(user, requestInfo(method, path, isWatch)).level;

test('the first rule that matches decides, and what matches none is not audited', () => {
  const read = policy('- {level: None, verbs: [get]}\n- {level: Request, verbs: [get, list]}');
  assert.equal(read.verdict(user, requestInfo('GET', '/api/v1/pods', false)).level, 'Request');
  assert.equal(read.verdict(user, requestInfo('GET', '/api/v1/namespaces/a/pods/a', false)).level, 'None');
  assert.equal(read.verdict(user, requestInfo('DELETE', '/api/v1/namespaces/a/pods/a', false)).level, 'None');
});

for (const [rule, method, path, matches] of [
  ['users: [jane]', 'GET', '/api/v1/pods', true],
  ['users: [joe]', 'GET', '/api/v1/pods', false],
  ['userGroups: [developers]', 'GET', '/healthz', true],
  ['userGroups: [others]', 'GET', '/healthz', false],
  ['verbs: [create]', 'POST', '/api/v1/namespaces/a/pods', true],
  ['namespaces: [a]', 'POST', '/api/v1/namespaces/a/pods', true],
  ['namespaces: [b]', 'POST', '/api/v1/namespaces/a/pods', false],
  ['namespaces: [""]', 'GET', '/api/v1/nodes', true],
  ['namespaces: [a]', 'GET', '/healthz', false],
  ['resources: [{group: ""}]', 'GET', '/api/v1/pods', true],
  ['resources: [{group: apps}]', 'GET', '/api/v1/pods', false],
  ['resources: [{resources: [pods]}]', 'GET', '/api/v1/namespaces/a/pods/b/log', false],
  ['resources: [{resources: [pods/log]}]', 'GET', '/api/v1/namespaces/a/pods/b/log', true],
  ['resources: [{resources: ["pods/*"]}]', 'GET', '/api/v1/namespaces/a/pods/b/log', true],
  ['resources: [{resources: ["*/log"]}]', 'GET', '/api/v1/namespaces/a/pods/b/log', true],
  ['resources: [{resources: ["*"]}]', 'GET', '/api/v1/namespaces/a/pods/b/log', false],
  ['resources: [{resources: ["*"]}]', 'GET', '/api/v1/namespaces/a/pods/b', true],
  ['resources: [{resources: [pods], resourceNames: [b]}]', 'GET', '/api/v1/namespaces/a/pods/b', true],
  ['resources: [{resources: [pods], resourceNames: [c]}]', 'GET', '/api/v1/namespaces/a/pods/b', false],
  ['nonResourceURLs: ["/healthz*"]', 'GET', '/healthz/ping', true],
  ['nonResourceURLs: ["/version"]', 'GET', '/version/', true],
  ['nonResourceURLs: ["*"]', 'GET', '/api/v1/pods', false],
] as const) {
  test(`${rule} ${matches ? 'matches' : 'does not match'} ${method} ${path}`, () => {
    assert.equal(levelOf(rule, method, path), matches ? 'Metadata' : 'None');
  });
}

test('whoever is unknown matches no rule about users', () => {
  const info = requestInfo('GET', '/api/v1/pods', false);
  assert.equal(policy('- {level: Metadata, users: [jane]}').verdict(undefined, info).level, 'None');
  assert.equal(policy('- {level: Metadata}').verdict(undefined, info).level, 'Metadata');
});

test('stages are left out by the policy and by the rule', () => {
  const { omitStages } = policy('- {level: Metadata, omitStages: [ResponseStarted]}').verdict(
    user,
    requestInfo('GET', '/api/v1/pods', false),
  );
  assert.deepEqual([...omitStages], ['RequestReceived', 'ResponseStarted']);
});

for (const [text, message] of [
  ['{', /./],
  ['kind: Pod', /must be a Policy/],
  ['apiVersion: audit.k8s.io/v1\nkind: Policy', /rules: must have at least one/],
  ['apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: All}]', /rules\[0\]\.level: must be one of/],
  ['apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None, verbs: get}]', /verbs: must be a list/],
  ['apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None, omitStages: [Never]}]', /omitStages/],
  ['apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None, user: [a]}]', /rules\[0\]\.user: unknown field/],
  ['apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None, users: [a], users: []}]', /"users" already set/],
  ['apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStage: []\nrules: [{level: None}]', /omitStage: unknown field/],
  [
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None, resources: [{resource: [a]}]}]',
    /rules\[0\]\.resources\[0\]\.resource: unknown field/,
  ],
  [
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None, resources: [{group: 1}]}]',
    /group: must be a string/,
  ],
  ['apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None, omitManagedFields: 1}]', /must be true or false/],
] as const) {
  test(`a policy that is wrong is refused with ${message}`, () => {
    assert.throws(
      () => AuditPolicy.read(text),
      (error) => error instanceof AuditPolicyError && message.test(error.message),
    );
  });
}
