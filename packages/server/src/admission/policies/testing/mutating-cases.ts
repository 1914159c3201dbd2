/** Cases for the mutations of MutatingAdmissionPolicies and their failures. */

import {
  configMapOf,
  configMapsIn,
  createConfigMap,
  mergePatch,
  mutating,
  lone,
  on,
  post,
  put,
  rule,
} from './policy-case.ts';
import type { PolicyCase } from './policy-case.ts';

const apply = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
const patch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });
const deploymentRules = on(rule('deployments.apps'));
const deployments = (namespace: string): string => `/apis/apps/v1/namespaces/${namespace}/deployments`;
const deployment = (name: string, pod: Record<string, unknown> = {}): Record<string, unknown> => ({
  kind: 'Deployment',
  apiVersion: 'apps/v1',
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'c', image: 'i', env: [{ name: 'A', value: '1' }] }], ...pod },
    },
  },
});

const configurations: readonly PolicyCase[] = [
  mutating(
    'labels and data',
    {
      mutations: [
        apply("Object{metadata: Object.metadata{labels: {'team': 'a'}}, data: {'added': object.metadata.name}}"),
      ],
    },
    (ns) => [
      createConfigMap(ns, 'a', { b: 'c' }, { labels: { own: 'x' } }),
      createConfigMap(ns, 'b'),
      mergePatch(`${configMapsIn(ns)}/a`, { data: { added: null } }),
      put(`${configMapsIn(ns)}/b`, configMapOf('b', { added: 'other' })),
    ],
  ),
  mutating('an empty configuration', { mutations: [apply('Object{}')] }, (ns) => [
    createConfigMap(ns, 'a', { b: 'c' }),
  ]),
  mutating(
    'conditional parts',
    {
      mutations: [
        apply(
          "Object{metadata: Object.metadata{?annotations: has(object.data.a) ? optional.of({'has-a': 'yes'}) : optional.none()}}",
        ),
      ],
    },
    (ns) => [createConfigMap(ns, 'a', { a: '1' }), createConfigMap(ns, 'b', { b: '1' })],
  ),
  mutating(
    'lists that merge by key',
    {
      matchConstraints: deploymentRules,
      mutations: [
        apply(
          "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: 'side', image: 'side:1'}, Object.spec.template.spec.containers{name: 'c', env: [Object.spec.template.spec.containers.env{name: 'B', value: '2'}]}]}}}}",
        ),
      ],
    },
    (ns) => [post(deployments(ns), deployment('d'))],
  ),
  mutating(
    'defaults of what was added',
    {
      matchConstraints: deploymentRules,
      mutations: [
        apply(
          "Object{spec: Object.spec{replicas: 3, template: Object.spec.template{spec: Object.spec.template.spec{volumes: [Object.spec.template.spec.volumes{name: 'v', emptyDir: Object.spec.template.spec.volumes.emptyDir{}}], initContainers: [Object.spec.template.spec.initContainers{name: 'i', image: 'i', ports: [Object.spec.template.spec.initContainers.ports{containerPort: 80}]}]}}}}",
        ),
      ],
    },
    (ns) => [post(deployments(ns), deployment('d'))],
  ),
  mutating(
    'what is replaced as a whole',
    {
      matchConstraints: deploymentRules,
      mutations: [
        apply(
          "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{nodeSelector: {'a': 'b'}}}}}",
        ),
      ],
    },
    (ns) => [post(deployments(ns), deployment('d'))],
  ),
  mutating(
    'lists that are replaced as a whole',
    {
      matchConstraints: deploymentRules,
      mutations: [
        apply(
          "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: 'c', args: ['x']}]}}}}",
        ),
      ],
    },
    (ns) => [post(deployments(ns), deployment('d'))],
  ),
  mutating('fields that do not exist', { mutations: [apply('Object{nothing: 1}')] }, (ns) => [
    createConfigMap(ns, 'a'),
  ]),
  mutating(
    'fields that do not exist, let pass',
    { failurePolicy: 'Ignore', mutations: [apply('Object{nothing: 1}'), apply("Object{data: {'x': 'y'}}")] },
    (ns) => [createConfigMap(ns, 'a')],
  ),
  mutating(
    'values of the wrong type',
    { matchConstraints: deploymentRules, mutations: [apply("Object{spec: Object.spec{replicas: 'three'}}")] },
    (ns) => [post(deployments(ns), deployment('d'))],
  ),
  mutating(
    'items without a key',
    {
      matchConstraints: deploymentRules,
      mutations: [
        apply(
          "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{image: 'x'}]}}}}",
        ),
      ],
    },
    (ns) => [post(deployments(ns), deployment('d'))],
  ),
  mutating('objects named after another place', { mutations: [apply('Object{metadata: Object.spec{}}')] }, (ns) => [
    createConfigMap(ns, 'a'),
  ]),
  mutating('an expression that fails', { mutations: [apply("Object{data: {'x': object.data.missing}}")] }, (ns) => [
    createConfigMap(ns, 'a', { a: 'b' }),
  ]),
  mutating(
    'an object that becomes invalid',
    { mutations: [apply("Object{metadata: Object.metadata{labels: {'a': 'not valid!'}}}")] },
    (ns) => [createConfigMap(ns, 'a')],
  ),
  mutating(
    'a name that may not change',
    { mutations: [apply("Object{metadata: Object.metadata{name: 'other'}}")] },
    (ns) => [createConfigMap(ns, 'a')],
  ),
];

const operations: readonly PolicyCase[] = [
  mutating(
    'operations',
    {
      mutations: [
        patch(
          "[JSONPatch{op: 'add', path: '/data/x', value: 'y'}, JSONPatch{op: 'copy', from: '/data/x', path: '/data/z'}, JSONPatch{op: 'move', from: '/data/x', path: '/data/w'}, JSONPatch{op: 'replace', path: '/data/z', value: 'changed'}]",
        ),
      ],
    },
    (ns) => [createConfigMap(ns, 'a', { a: 'b' })],
  ),
  mutating(
    'keys that are escaped',
    {
      mutations: [
        patch(
          "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'a': 'b'}}, JSONPatch{op: 'add', path: '/metadata/annotations/' + jsonpatch.escapeKey('example.com/a~b'), value: 'c'}]",
        ),
      ],
    },
    (ns) => [createConfigMap(ns, 'a')],
  ),
  mutating(
    'a test that fails leaves all as it is',
    {
      mutations: [
        patch(
          "[JSONPatch{op: 'add', path: '/data/x', value: 'y'}, JSONPatch{op: 'test', path: '/data/a', value: 'b'}]",
        ),
      ],
    },
    (ns) => [createConfigMap(ns, 'a', { a: 'b' }), createConfigMap(ns, 'b', { a: 'c' })],
  ),
  mutating(
    'values that are objects and lists',
    {
      matchConstraints: deploymentRules,
      mutations: [
        patch(
          "[JSONPatch{op: 'add', path: '/spec/template/spec/containers/-', value: Object.spec.template.spec.containers{name: 'side', image: 'x', args: ['a', 'b'], ports: [Object.spec.template.spec.containers.ports{containerPort: 80}]}}, JSONPatch{op: 'add', path: '/spec/replicas', value: 2 + 3}]",
        ),
      ],
    },
    (ns) => [post(deployments(ns), deployment('d'))],
  ),
  mutating(
    'values named after another place',
    { mutations: [patch("[JSONPatch{op: 'add', path: '/data', value: Object.spec{x: Object.data{}}}]")] },
    (ns) => [createConfigMap(ns, 'a')],
  ),
  ...Object.entries({
    'remove what is not there': "op: 'remove', path: '/data/missing'",
    'remove below what is not there': "op: 'remove', path: '/missing/x'",
    'add below what is not there': "op: 'add', path: '/missing/x', value: 1",
    'replace below what is not there': "op: 'replace', path: '/missing/x', value: 1",
    'replace what is not there': "op: 'replace', path: '/data/x', value: '1'",
    'move what is not there': "op: 'move', from: '/data/x', path: '/data/y'",
    'move without a source': "op: 'move', path: '/data/y'",
    'copy what is not there': "op: 'copy', from: '/missing/x', path: '/data/y'",
    'copy to where nothing is': "op: 'copy', from: '/data/a', path: '/missing/y'",
    'an operation that is not known': "op: 'change', path: '/data/y', value: 'x'",
    'a path without a slash': "op: 'add', path: 'data', value: 'x'",
    'a field that is not known': "op: 'add', path: '/nothing', value: 'x'",
    'a value of the wrong type': "op: 'add', path: '/data/x', value: 1",
    'a test of what is not there': "op: 'test', path: '/missing/x', value: 1",
    'an index that is none': "op: 'add', path: '/metadata/managedFields/x', value: 1",
    'an index that is too large': "op: 'add', path: '/metadata/managedFields/9', value: 1",
    'removing an index that is too large': "op: 'remove', path: '/metadata/managedFields/9'",
    'replacing an index that is too large': "op: 'replace', path: '/metadata/managedFields/9', value: 1",
  }).map(([name, operation]) =>
    mutating(name, { mutations: [patch(`[JSONPatch{${operation}}]`)] }, (ns) => [createConfigMap(ns, 'a', { a: 'b' })]),
  ),
];

const whole: readonly PolicyCase[] = [
  mutating(
    'variables and what mutations before it did',
    {
      variables: [{ name: 'n', expression: "object.?data.count.orValue('0')" }],
      mutations: [
        patch("[JSONPatch{op: 'add', path: '/data/count', value: variables.n + '1'}]"),
        patch("[JSONPatch{op: 'add', path: '/data/count', value: variables.n + '2'}]"),
      ],
    },
    (ns) => [createConfigMap(ns, 'a', { a: 'b' })],
  ),
  mutating(
    'conditions',
    {
      matchConditions: [{ name: 'c', expression: "request.name == 'a'" }],
      mutations: [apply("Object{data: {'x': 'y'}}")],
    },
    (ns) => [createConfigMap(ns, 'a'), createConfigMap(ns, 'b')],
  ),
  mutating(
    'conditions that fail',
    {
      matchConditions: [{ name: 'c', expression: "object.data.missing == 'a'" }],
      mutations: [apply("Object{data: {'x': 'y'}}")],
    },
    (ns) => [createConfigMap(ns, 'a', { a: 'b' })],
  ),
  mutating(
    'conditions that fail and are let pass',
    {
      failurePolicy: 'Ignore',
      matchConditions: [{ name: 'c', expression: "object.data.missing == 'a'" }],
      mutations: [apply("Object{data: {'x': 'y'}}")],
    },
    (ns) => [createConfigMap(ns, 'a', { a: 'b' })],
  ),
  mutating(
    'parameters',
    {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConstraints: on(rule('secrets')),
      mutations: [apply("Object{metadata: Object.metadata{labels: {'from': params.data.value}}}")],
    },
    (ns) => [post(`/api/v1/namespaces/${ns}/secrets`, { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' } })],
    {
      binding: { paramRef: { name: 'p', parameterNotFoundAction: 'Deny' } },
      before: (ns) => [createConfigMap(ns, 'p', { value: 'param' })],
    },
  ),
  mutating(
    'parameters that are missing',
    {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConstraints: on(rule('secrets')),
      mutations: [apply('Object{}')],
    },
    (ns) => [post(`/api/v1/namespaces/${ns}/secrets`, { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' } })],
    { binding: { paramRef: { name: 'p', parameterNotFoundAction: 'Deny' } } },
  ),
  mutating(
    'a kind of parameter that nobody serves',
    {
      matchConstraints: lone(rule('configmaps')),
      paramKind: { apiVersion: 'example.org/v7', kind: 'Nothing' },
      mutations: [apply('Object{}')],
    },
    (ns) => [createConfigMap(ns, 'a')],
    { labels: { lone: 'yes' }, binding: { paramRef: { name: 'p', parameterNotFoundAction: 'Deny' } } },
  ),
  mutating(
    'asked again where it wants to be',
    {
      reinvocationPolicy: 'IfNeeded',
      mutations: [patch("[JSONPatch{op: 'add', path: '/data/times', value: object.?data.times.orValue('') + 'x'}]")],
    },
    (ns) => [createConfigMap(ns, 'a', { a: 'b' })],
  ),
  mutating(
    'asked once where it does not',
    {
      mutations: [patch("[JSONPatch{op: 'add', path: '/data/times', value: object.?data.times.orValue('') + 'x'}]")],
    },
    (ns) => [createConfigMap(ns, 'a', { a: 'b' })],
  ),
  mutating(
    'another version of the resource',
    {
      matchConstraints: {
        ...on({
          apiGroups: ['autoscaling'],
          apiVersions: ['v1'],
          operations: ['CREATE'],
          resources: ['horizontalpodautoscalers'],
        }),
        matchPolicy: 'Equivalent',
      },
      mutations: [apply('Object{spec: Object.spec{targetCPUUtilizationPercentage: 33}}')],
    },
    (ns) => [
      post(`/apis/autoscaling/v1/namespaces/${ns}/horizontalpodautoscalers`, {
        kind: 'HorizontalPodAutoscaler',
        apiVersion: 'autoscaling/v1',
        metadata: { name: 'h' },
        spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' } },
      }),
    ],
  ),
  mutating(
    'custom resources',
    {
      matchConstraints: on({
        apiGroups: ['example.com'],
        apiVersions: ['v1'],
        operations: ['CREATE'],
        resources: ['widgets'],
      }),
      mutations: [
        apply('Object{spec: Object.spec{size: 7}}'),
        patch("[JSONPatch{op: 'add', path: '/metadata/labels', value: {'was': string(object.spec.size)}}]"),
      ],
    },
    (ns) => [
      post(`/apis/example.com/v1/namespaces/${ns}/widgets`, {
        kind: 'Widget',
        apiVersion: 'example.com/v1',
        metadata: { name: 'w' },
        spec: { size: 1 },
      }),
    ],
  ),
  mutating(
    'the namespace and the request',
    {
      mutations: [
        apply(
          "Object{data: {'ns': namespaceObject.metadata.labels.tier, 'op': request.operation, 'who': request.userInfo.username}}",
        ),
      ],
    },
    (ns) => [createConfigMap(ns, 'a')],
    { labels: { tier: 'gold' } },
  ),
  mutating('server-side apply', { mutations: [apply("Object{data: {'x': 'y'}}")] }, (ns) => [
    {
      method: 'PATCH',
      path: `${configMapsIn(ns)}/a?fieldManager=me`,
      body: configMapOf('a', { a: 'b' }),
      contentType: 'application/apply-patch+yaml',
    },
    {
      method: 'PATCH',
      path: `${configMapsIn(ns)}/a?fieldManager=me`,
      body: configMapOf('a', { a: 'c' }),
      contentType: 'application/apply-patch+yaml',
    },
  ]),
];

export const mutatingCases: readonly PolicyCase[] = [...configurations, ...operations, ...whole];
