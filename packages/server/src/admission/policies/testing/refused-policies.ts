/** Policies that servers reject on write because of invalid expressions. */

import type { Step } from '../../../testing/both-servers.ts';
import { configMapRules, post } from './policy-case.ts';

const registration = '/apis/admissionregistration.k8s.io/v1';
const apiVersion = 'admissionregistration.k8s.io/v1';

const validatingPolicy = (spec: object): Step =>
  post(`${registration}/validatingadmissionpolicies`, {
    kind: 'ValidatingAdmissionPolicy',
    apiVersion,
    metadata: { name: 'refused.example.com' },
    spec: { matchConstraints: configMapRules, ...spec },
  });

const mutatingPolicy = (spec: object): Step =>
  post(`${registration}/mutatingadmissionpolicies`, {
    kind: 'MutatingAdmissionPolicy',
    apiVersion,
    metadata: { name: 'refused.example.com' },
    spec: { matchConstraints: configMapRules, reinvocationPolicy: 'Never', ...spec },
  });

const validation = (expression: string, rest: object = {}): Step =>
  validatingPolicy({ validations: [{ expression, ...rest }] });
const apply = (expression: string): object => ({
  mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
});
const patch = (expression: string): object => ({ mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }] });

/** The parser here words some errors differently. */
const inOwnWords: readonly Step[] = [
  validation("object.data.a == 'b"),
  mutatingPolicy(apply('Object{a b}')),
  mutatingPolicy(patch('[JSONPatch{nothing: 1}]')),
].map((step) => ({ ...step, codeOnly: true }));

export const refusedPolicies: readonly Step[] = [
  ...inOwnWords,
  ...[
    'object.',
    '1 +',
    '"a" == 1',
    '1',
    "'text'",
    'object',
    'unknown == 1',
    'params.x == 1',
    'variables.x == 1',
    'self.x == 1',
    'has(object)',
    'request.nothing == 1',
    'namespaceObject.metadata.nothing == 1',
    'request.dryRun == 1',
    'authorizer.group(1).resource("x").check("get").allowed()',
    "object.matches('(')",
    '[1, "a"].size() == 2',
    '{1: 2, "a": 3}.size() == 2',
    'object.all(x, x.y)',
    "[1].exists(x, x == 'a')",
    'duration("1h") > 1',
    'timestamp("x") == timestamp("y")',
    'null == 1',
    'Object{} == null',
    'jsonpatch.escapeKey("a") == ""',
    '',
    ' ',
  ].map((expression) => validation(expression)),
  validation('true', { messageExpression: '1' }),
  validation('true', { messageExpression: 'authorizer.path("/x").check("get").reason()' }),
  validation('true', { messageExpression: 'object.' }),
  validation('true', { messageExpression: ' ' }),
  validation('true', { message: 'two\nlines' }),
  validation('true', { reason: 'NotFound' }),
  validatingPolicy({
    variables: [
      { name: 'a', expression: 'variables.b' },
      { name: 'b', expression: '1' },
    ],
    validations: [{ expression: 'true' }],
  }),
  validatingPolicy({
    variables: [{ name: 'a', expression: "'x'" }],
    validations: [{ expression: 'variables.a == 1' }],
  }),
  validatingPolicy({
    variables: [
      { name: 'in', expression: '1' },
      { name: 'a-b', expression: '1' },
      { name: '', expression: '' },
    ],
    validations: [{ expression: 'true' }],
  }),
  validatingPolicy({
    auditAnnotations: [
      { key: 'a', valueExpression: '1' },
      { key: 'a', valueExpression: "'x'" },
    ],
  }),
  validatingPolicy({
    matchConditions: [
      { name: 'x', expression: '1' },
      { name: 'x', expression: 'variables.y' },
    ],
    validations: [{ expression: 'true' }],
  }),
  validatingPolicy({}),
  mutatingPolicy({}),
  ...['object', '{"a": 1}', 'Object.spec{}', 'JSONPatch{}', 'Object{metadata: 1}.metadata', 'Nothing{}', '[]'].map(
    (one) => mutatingPolicy(apply(one)),
  ),
  ...[
    'object',
    '[]',
    '[Object{}]',
    'JSONPatch{}',
    '[JSONPatch{op: 1}]',
    '[JSONPatch{path: object.x, from: 2}]',
    'jsonpatch.escapeKey(1)',
  ].map((one) => mutatingPolicy(patch(one))),
  mutatingPolicy({ mutations: [{ patchType: 'Merge' }] }),
  mutatingPolicy({ ...apply('Object{}'), reinvocationPolicy: 'Always' }),
];
