/** Admission, custom resource definitions and API services. */

import { all, specs } from './build.ts';

const clientConfig = { url: 'https://example.com/' };
const service = { service: { namespace: 'n', name: 's' } };
const webhook = { name: 'a.example.com', clientConfig, sideEffects: 'None', admissionReviewVersions: ['v1'] };
/** Matches nothing: the server must not call any webhook. */
const webhookRules = [
  { apiGroups: ['nothing.example'], apiVersions: ['v1'], resources: ['things'], operations: ['CREATE'] },
];
const webhooks = {
  webhooks: [
    { ...webhook, rules: webhookRules },
    { ...webhook, name: 'b.example.com', clientConfig: service },
  ],
};
const matchConstraints = { resourceRules: webhookRules };
const schema = { openAPIV3Schema: { type: 'object', properties: { a: { type: 'string', default: 'x' } } } };
const richSchema = {
  openAPIV3Schema: {
    type: 'object',
    description: 'd',
    required: ['a'],
    properties: {
      a: { type: 'string', enum: ['x', 'y'], default: 'x', pattern: '^.$', maxLength: 3, nullable: true },
      b: { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, maxItems: 3 },
      c: {
        type: 'object',
        additionalProperties: { type: 'integer', format: 'int32', minimum: 0, exclusiveMinimum: true },
      },
      d: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
      e: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      f: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { type: 'object', required: ['k'], properties: { k: { type: 'string' } } },
      },
      g: { type: 'string', default: '', 'x-kubernetes-validations': [{ rule: 'self != "z"', message: 'no z' }] },
      h: {
        type: 'object',
        oneOf: [{ required: ['q'] }, { required: ['b'] }],
        'x-kubernetes-map-type': 'atomic',
        not: { required: ['q'] },
        minProperties: 1,
      },
      i: { type: 'number', multipleOf: 2, default: 4, example: { any: ['thing', null] } },
      j: { type: 'boolean', default: false, externalDocs: { url: 'https://example.com/' } },
    },
  },
};
const policyRef = { policyName: 'p' };
export const admission = [
  all('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', {}, webhooks),
  all('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', {}, webhooks),
  specs(
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicy',
    { matchConstraints, validations: [{ expression: 'true' }] },
    {
      matchConstraints,
      failurePolicy: 'Ignore',
      validations: [{ expression: 'true', reason: 'Invalid' }],
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    },
  ),
  specs(
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicyBinding',
    { ...policyRef, validationActions: ['Deny'] },
    {
      ...policyRef,
      validationActions: ['Deny'],
      matchResources: { resourceRules: webhookRules },
      paramRef: { name: 'x', parameterNotFoundAction: 'Deny' },
    },
  ),
  specs('admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicy', {
    matchConstraints,
    reinvocationPolicy: 'Never',
    mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }],
  }),
  specs('admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicyBinding', policyRef, {
    ...policyRef,
    matchResources: {},
  }),
  all(
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    {
      metadata: { name: 'foos.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'foos', kind: 'Foo' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    },
    {
      metadata: { name: 'bazes.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        preserveUnknownFields: false,
        names: { plural: 'bazes', kind: 'Baz', categories: ['all'] },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            deprecated: true,
            deprecationWarning: 'w',
            schema: richSchema,
            selectableFields: [{ jsonPath: '.a' }],
            subresources: { status: {}, scale: { specReplicasPath: '.spec.r', statusReplicasPath: '.status.r' } },
            additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.a', priority: 0 }],
          },
        ],
      },
      status: { storedVersions: ['nonsense'] },
    },
    {
      metadata: { name: 'bars.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural: 'bars', kind: 'Bar', singular: 'barre', shortNames: ['b'], listKind: 'Bars' },
        conversion: {
          strategy: 'Webhook',
          webhook: { clientConfig: { service: { namespace: 'a', name: 'b' } }, conversionReviewVersions: ['v1'] },
        },
        versions: [
          { name: 'v1', served: true, storage: false, schema, subresources: { status: {} } },
          {
            name: 'v2',
            served: true,
            storage: true,
            schema,
            additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.a' }],
          },
        ],
      },
    },
  ),
  all(
    'apiregistration.k8s.io/v1',
    'APIService',
    {
      metadata: { name: 'v1.local.example' },
      spec: { group: 'local.example', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 },
    },
    {
      metadata: { name: 'v1.far.example' },
      spec: {
        group: 'far.example',
        version: 'v1',
        groupPriorityMinimum: 1,
        versionPriority: 1,
        insecureSkipTLSVerify: true,
        ...service,
      },
    },
  ),
];
