/** Cases for the matching of ValidatingAdmissionPolicies. */

import {
  configMapOf,
  configMapsIn,
  createConfigMap,
  mergePatch,
  on,
  post,
  put,
  rule,
  validating,
} from './policy-case.ts';
import type { PolicyCase } from './policy-case.ts';

const never = [{ expression: 'false' }];

const deployment = (name: string, replicas: number, labels = {}): Record<string, unknown> => ({
  kind: 'Deployment',
  apiVersion: 'apps/v1',
  metadata: { name, labels },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
});
const deployments = (namespace: string): string => `/apis/apps/v1/namespaces/${namespace}/deployments`;

export const matchingCases: readonly PolicyCase[] = [
  validating(
    'operations',
    {
      matchConstraints: on(rule('configmaps', ['DELETE'])),
      validations: [{ expression: "oldObject.data.a != 'keep' && object == null" }],
    },
    (ns) => [
      createConfigMap(ns, 'a', { a: 'keep' }),
      createConfigMap(ns, 'b', { a: 'go' }),
      { method: 'DELETE', path: `${configMapsIn(ns)}/a` },
      { method: 'DELETE', path: `${configMapsIn(ns)}/b` },
      { method: 'DELETE', path: configMapsIn(ns) },
    ],
  ),
  validating(
    'updates and patches',
    {
      matchConstraints: on(rule('configmaps', ['UPDATE'])),
      validations: [{ expression: 'object.data.a == oldObject.data.a', message: 'a is fixed' }],
    },
    (ns) => [
      createConfigMap(ns, 'a', { a: 'b' }),
      put(`${configMapsIn(ns)}/a`, configMapOf('a', { a: 'b', c: 'd' })),
      put(`${configMapsIn(ns)}/a`, configMapOf('a', { a: 'c' })),
      mergePatch(`${configMapsIn(ns)}/a`, { data: { a: 'x' } }),
      mergePatch(`${configMapsIn(ns)}/a`, { data: { y: 'x' } }),
    ],
  ),
  validating('dry run', { validations: [{ expression: '!request.dryRun', message: 'dry' }] }, (ns) => [
    { ...createConfigMap(ns, 'a'), path: `${configMapsIn(ns)}?dryRun=All` },
    createConfigMap(ns, 'a'),
  ]),
  validating(
    'names of resources',
    { matchConstraints: on(rule('configmaps', ['*'], { resourceNames: ['a'] })), validations: never },
    (ns) => [createConfigMap(ns, 'a'), createConfigMap(ns, 'b')],
  ),
  validating(
    'exclusions',
    {
      matchConstraints: {
        ...on(rule('configmaps', ['*'])),
        excludeResourceRules: [rule('configmaps', ['*'], { resourceNames: ['a'] })],
      },
      validations: never,
    },
    (ns) => [createConfigMap(ns, 'a'), createConfigMap(ns, 'b')],
  ),
  validating(
    'selected objects',
    {
      matchConstraints: { ...on(rule('configmaps', ['*'])), objectSelector: { matchLabels: { env: 'prod' } } },
      validations: never,
    },
    (ns) => [
      createConfigMap(ns, 'a'),
      createConfigMap(ns, 'b', {}, { labels: { env: 'prod' } }),
      mergePatch(`${configMapsIn(ns)}/a`, { metadata: { labels: { env: 'prod' } } }),
    ],
  ),
  validating(
    'selected namespaces',
    {
      matchConstraints: {
        ...on(rule('configmaps', ['*'])),
        namespaceSelector: { matchExpressions: [{ key: 'strict', operator: 'Exists' }] },
      },
      validations: never,
    },
    (ns) => [createConfigMap(ns, 'a')],
    { labels: { strict: 'yes' } },
  ),
  validating(
    'namespaces that are not selected',
    {
      matchConstraints: {
        ...on(rule('configmaps', ['*'])),
        namespaceSelector: { matchExpressions: [{ key: 'strict', operator: 'Exists' }] },
      },
      validations: never,
    },
    (ns) => [createConfigMap(ns, 'a')],
  ),
  validating(
    'resources that the binding narrows',
    { matchConstraints: on(rule('*', ['*'])), validations: never },
    (ns) => [
      createConfigMap(ns, 'a'),
      post(`/api/v1/namespaces/${ns}/secrets`, { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' } }),
    ],
    {
      binding: {
        matchResources: {
          ...on(rule('secrets')),
          objectSelector: {},
          namespaceSelector: { matchLabels: { case: 'narrow' } },
        },
      },
      labels: { case: 'narrow' },
    },
  ),
  validating(
    'subresources',
    {
      matchConstraints: on({
        apiGroups: ['apps'],
        apiVersions: ['v1'],
        operations: ['*'],
        resources: ['deployments/scale', 'deployments/status'],
      }),
      validations: [
        {
          expression: "request.subResource == 'scale' && object.kind == 'Scale' && object.spec.replicas < 5",
          messageExpression: "request.kind.kind + ' of ' + request.requestKind.group + ' ' + request.subResource",
        },
      ],
    },
    (ns) => [
      post(deployments(ns), deployment('d', 1)),
      mergePatch(`${deployments(ns)}/d/scale`, { spec: { replicas: 3 } }),
      mergePatch(`${deployments(ns)}/d/scale`, { spec: { replicas: 7 } }),
      mergePatch(`${deployments(ns)}/d/status`, { status: { replicas: 7 } }),
    ],
  ),
  validating(
    'the same resource of another version',
    {
      matchConstraints: {
        ...on({
          apiGroups: ['autoscaling'],
          apiVersions: ['v1'],
          operations: ['*'],
          resources: ['horizontalpodautoscalers'],
        }),
        matchPolicy: 'Equivalent',
      },
      validations: [
        {
          expression:
            "object.apiVersion == 'autoscaling/v1' && object.spec.targetCPUUtilizationPercentage < 50 && request.kind.version == 'v1' && request.requestKind.version == 'v2'",
          messageExpression:
            "request.resource.version + ' ' + request.requestResource.version + ' ' + object.apiVersion",
        },
      ],
    },
    (ns) =>
      [40, 60].map((percent) =>
        post(`/apis/autoscaling/v2/namespaces/${ns}/horizontalpodautoscalers`, {
          kind: 'HorizontalPodAutoscaler',
          apiVersion: 'autoscaling/v2',
          metadata: { name: `h${percent}` },
          spec: {
            maxReplicas: 3,
            scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
            metrics: [
              {
                type: 'Resource',
                resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: percent } },
              },
            ],
          },
        }),
      ),
  ),
  validating(
    'exactly one version',
    {
      matchConstraints: {
        ...on({
          apiGroups: ['autoscaling'],
          apiVersions: ['v1'],
          operations: ['*'],
          resources: ['horizontalpodautoscalers'],
        }),
        matchPolicy: 'Exact',
      },
      validations: never,
    },
    (ns) => [
      post(`/apis/autoscaling/v2/namespaces/${ns}/horizontalpodautoscalers`, {
        kind: 'HorizontalPodAutoscaler',
        apiVersion: 'autoscaling/v2',
        metadata: { name: 'h' },
        spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' } },
      }),
    ],
  ),
  validating(
    'namespaces themselves',
    {
      matchConstraints: on(rule('namespaces', ['*'])),
      validations: [
        {
          expression:
            "request.namespace == request.name && namespaceObject == null && !object.metadata.name.endsWith('-bad')",
        },
      ],
    },
    (ns) => [
      post('/api/v1/namespaces', {
        kind: 'Namespace',
        apiVersion: 'v1',
        metadata: { name: `${ns}-good`, labels: { own: 'yes' } },
      }),
      post('/api/v1/namespaces', {
        kind: 'Namespace',
        apiVersion: 'v1',
        metadata: { name: `${ns}-bad`, labels: { own: 'yes' } },
      }),
      post('/api/v1/namespaces', { kind: 'Namespace', apiVersion: 'v1', metadata: { name: `${ns}-other-bad` } }),
      mergePatch(`/api/v1/namespaces/${ns}-good`, { metadata: { labels: { more: 'yes' } } }),
    ],
    { binding: { matchResources: { namespaceSelector: { matchLabels: { own: 'yes' } } } } },
  ),
  validating(
    'scope',
    {
      matchConstraints: on(
        rule('*', ['*'], { scope: 'Cluster', resources: ['namespaces', 'configmaps', 'persistentvolumes'] }),
      ),
      validations: never,
    },
    (ns) => [
      createConfigMap(ns, 'a', {}, { labels: { scoped: 'yes' } }),
      post('/api/v1/namespaces', {
        kind: 'Namespace',
        apiVersion: 'v1',
        metadata: { name: `${ns}-x`, labels: { scoped: 'yes' } },
      }),
      post('/api/v1/persistentvolumes', {
        kind: 'PersistentVolume',
        apiVersion: 'v1',
        metadata: { name: `${ns}-x`, labels: { scoped: 'yes' } },
        spec: { capacity: { storage: '1' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
      }),
    ],
    { binding: { matchResources: { objectSelector: { matchLabels: { scoped: 'yes' } } } } },
  ),
  validating(
    'policies are not asked about policies',
    {
      matchConstraints: on({
        apiGroups: ['admissionregistration.k8s.io'],
        apiVersions: ['v1'],
        operations: ['*'],
        resources: ['*'],
      }),
      validations: never,
    },
    (ns) => [
      post('/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings', {
        kind: 'ValidatingAdmissionPolicyBinding',
        apiVersion: 'admissionregistration.k8s.io/v1',
        metadata: { name: `${ns}-other`, labels: { self: 'yes' } },
        spec: { policyName: 'nobody', validationActions: ['Deny'] },
      }),
      post('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
        kind: 'ValidatingWebhookConfiguration',
        apiVersion: 'admissionregistration.k8s.io/v1',
        metadata: { name: `${ns}-other`, labels: { self: 'yes' } },
      }),
    ],
    { binding: { matchResources: { objectSelector: { matchLabels: { self: 'yes' } } } } },
  ),
  validating(
    'server-side apply',
    {
      validations: [
        {
          expression: "request.operation == 'CREATE' && request.options.kind == 'PatchOptions'",
          messageExpression: "request.operation + ' ' + request.options.kind",
        },
      ],
    },
    (ns) => [
      {
        method: 'PATCH',
        path: `${configMapsIn(ns)}/a?fieldManager=me`,
        body: configMapOf('a', { a: 'b' }),
        contentType: 'application/apply-patch+yaml',
      },
      {
        method: 'PATCH',
        path: `${configMapsIn(ns)}/a?fieldManager=me&force=true`,
        body: configMapOf('a', { a: 'c' }),
        contentType: 'application/apply-patch+yaml',
      },
    ],
  ),
];
