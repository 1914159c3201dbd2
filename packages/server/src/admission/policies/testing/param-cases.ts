/** Cases for parameters of policies, including missing ones. */

import { createConfigMap, lone, on, post, rule, validating } from './policy-case.ts';
import type { PolicyCase } from './policy-case.ts';

const limits = (namespace: string, name: string, data: Record<string, unknown>, labels = {}) =>
  createConfigMap(namespace, name, data, { labels: { role: 'limits', ...labels } });
const byParams = {
  paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
  matchConstraints: on(rule('secrets')),
  validations: [
    {
      expression: 'params != null && object.metadata.name.size() <= int(params.data.max)',
      messageExpression: "'longer than ' + params.data.max + ' of ' + params.kind + ' ' + params.metadata.name",
    },
  ],
};
const secret = (namespace: string, name: string) =>
  post(`/api/v1/namespaces/${namespace}/secrets`, { kind: 'Secret', apiVersion: 'v1', metadata: { name } });
const secrets = (namespace: string) => [secret(namespace, 'abc'), secret(namespace, 'abcdefgh')];
const paramBinding = (paramRef: Record<string, unknown>) => ({ binding: { paramRef } });

export const paramCases: readonly PolicyCase[] = [
  validating('a parameter by name', byParams, secrets, {
    ...paramBinding({ name: 'limits', parameterNotFoundAction: 'Deny' }),
    before: (ns) => [limits(ns, 'limits', { max: '5' })],
  }),
  validating(
    'a parameter that is missing',
    byParams,
    secrets,
    paramBinding({ name: 'limits', parameterNotFoundAction: 'Deny' }),
  ),
  validating(
    'a parameter that may be missing',
    byParams,
    secrets,
    paramBinding({ name: 'limits', parameterNotFoundAction: 'Allow' }),
  ),
  validating(
    'a missing parameter of a policy that lets errors pass',
    { ...byParams, failurePolicy: 'Ignore' },
    secrets,
    paramBinding({ name: 'limits', parameterNotFoundAction: 'Deny' }),
  ),
  validating('parameters by labels', byParams, secrets, {
    ...paramBinding({ selector: { matchLabels: { role: 'limits', strict: 'yes' } }, parameterNotFoundAction: 'Deny' }),
    before: (ns) => [limits(ns, 'x', { max: '1' }), limits(ns, 'y', { max: '5' }, { strict: 'yes' })],
  }),
  validating(
    'no parameters by labels',
    byParams,
    secrets,
    paramBinding({ selector: { matchLabels: { role: 'nothing' } }, parameterNotFoundAction: 'Deny' }),
  ),
  validating('a parameter of another namespace', byParams, secrets, {
    ...paramBinding({ name: 'elsewhere', namespace: 'default', parameterNotFoundAction: 'Deny' }),
    before: () => [limits('default', 'elsewhere', { max: '4' })],
  }),
  validating('a binding without a reference', byParams, secrets),
  validating(
    'a kind of parameter that nobody serves',
    {
      ...byParams,
      matchConstraints: lone(rule('secrets')),
      paramKind: { apiVersion: 'example.org/v7', kind: 'Nothing' },
    },
    secrets,
    { ...paramBinding({ name: 'x', parameterNotFoundAction: 'Deny' }), labels: { lone: 'yes' } },
  ),
  validating(
    'a kind that nobody serves, let pass',
    { ...byParams, failurePolicy: 'Ignore', paramKind: { apiVersion: 'v7', kind: 'Nothing' } },
    secrets,
    paramBinding({ name: 'x', parameterNotFoundAction: 'Deny' }),
  ),
  validating(
    'a parameter of the cluster',
    {
      ...byParams,
      paramKind: { apiVersion: 'v1', kind: 'Namespace' },
      validations: [{ expression: "params.metadata.name == 'default' && object.metadata.name == 'abc'" }],
    },
    secrets,
    paramBinding({ name: 'default', parameterNotFoundAction: 'Deny' }),
  ),
  validating(
    'a parameter of the cluster, looked for in a namespace',
    { ...byParams, paramKind: { apiVersion: 'v1', kind: 'Namespace' } },
    secrets,
    paramBinding({ name: 'default', namespace: 'default', parameterNotFoundAction: 'Deny' }),
  ),
  validating(
    'a parameter in a namespace for what is of the cluster',
    { ...byParams, matchConstraints: on(rule('persistentvolumes')) },
    (ns) => [
      post('/api/v1/persistentvolumes', {
        kind: 'PersistentVolume',
        apiVersion: 'v1',
        metadata: { name: `${ns}-x`, labels: { param: 'yes' } },
        spec: { capacity: { storage: '1' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
      }),
    ],
    {
      binding: {
        paramRef: { name: 'x', parameterNotFoundAction: 'Deny' },
        matchResources: { objectSelector: { matchLabels: { param: 'yes' } } },
      },
    },
  ),
  validating(
    'a custom parameter',
    {
      ...byParams,
      paramKind: { apiVersion: 'example.com/v1', kind: 'Widget' },
      validations: [
        {
          expression: 'object.metadata.name.size() <= params.spec.size',
          messageExpression: "params.apiVersion + ' ' + params.kind",
        },
      ],
    },
    secrets,
    {
      ...paramBinding({ name: 'limits', parameterNotFoundAction: 'Deny' }),
      before: (ns) => [
        post(`/apis/example.com/v1/namespaces/${ns}/widgets`, {
          kind: 'Widget',
          apiVersion: 'example.com/v1',
          metadata: { name: 'limits' },
          spec: { size: 4 },
        }),
      ],
    },
  ),
  validating(
    'custom resources',
    {
      matchConstraints: on({
        apiGroups: ['example.com'],
        apiVersions: ['v1'],
        operations: ['*'],
        resources: ['widgets'],
      }),
      validations: [{ expression: "object.spec.size > 1 && object.apiVersion == 'example.com/v1'" }],
    },
    (ns) =>
      ['v1', 'v2'].flatMap((version) =>
        [1, 2].map((size) =>
          post(`/apis/example.com/${version}/namespaces/${ns}/widgets`, {
            kind: 'Widget',
            apiVersion: `example.com/${version}`,
            metadata: { name: `w${size}-${version}` },
            spec: { size },
          }),
        ),
      ),
  ),
];
