/** Kinds that extend and protect the server: webhooks, policies, certificates, flow control, reviews. */

import { base64, meta, namespaced, withStatus } from './sample.ts';
import type { JsonObject } from '../../../../object.ts';
import type { Sample } from './sample.ts';

const admission = '/apis/admissionregistration.k8s.io/v1';
const admissionVersion = 'admissionregistration.k8s.io/v1';
const rule = {
  operations: ['CREATE', 'UPDATE'],
  apiGroups: ['apps'],
  apiVersions: ['v1'],
  resources: ['deployments', 'pods/status'],
};

const webhookOf = (change: JsonObject, isMutating = false): JsonObject => ({
  apiVersion: admissionVersion,
  kind: isMutating ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration',
  metadata: meta('hooks'),
  webhooks: [
    {
      name: 'a.example.com',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      failurePolicy: 'Ignore',
      clientConfig: { url: 'https://127.0.0.1:1/x' },
      rules: [rule],
      ...change,
    },
  ],
});
const clientOf = (clientConfig: JsonObject): JsonObject => webhookOf({ clientConfig });
const rulesOf = (change: JsonObject): JsonObject => webhookOf({ rules: [{ ...rule, ...change }] });

const full = {
  matchPolicy: 'Equivalent',
  timeoutSeconds: 5,
  namespaceSelector: { matchLabels: { a: 'b' } },
  objectSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
  clientConfig: { service: { name: 'n', namespace: 'ns', path: '/a/b', port: 443 } },
  matchConditions: [{ name: 'c', expression: 'object.x == 1' }],
};

const policyOf = (change: JsonObject): JsonObject => ({
  apiVersion: admissionVersion,
  kind: 'ValidatingAdmissionPolicy',
  metadata: meta('policy'),
  spec: {
    failurePolicy: 'Ignore',
    matchConstraints: { resourceRules: [{ ...rule, resourceNames: ['x'] }] },
    validations: [{ expression: 'true' }],
    ...change,
  },
});
const mutatingOf = (change: JsonObject): JsonObject => ({
  apiVersion: admissionVersion,
  kind: 'MutatingAdmissionPolicy',
  metadata: meta('mutating'),
  spec: {
    failurePolicy: 'Ignore',
    reinvocationPolicy: 'Never',
    matchConstraints: { resourceRules: [rule] },
    mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }],
    ...change,
  },
});
const bindingOf = (kind: string, change: JsonObject): JsonObject => ({
  apiVersion: admissionVersion,
  kind,
  metadata: meta('binding'),
  spec: { policyName: 'policy', matchResources: { resourceRules: [rule] }, ...change },
});

const levelOf = (name: string, spec: JsonObject): JsonObject => ({
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'PriorityLevelConfiguration',
  metadata: meta(name),
  spec,
});
const reviewOf = (kind: string, spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind,
  metadata,
  spec,
});
const serviceOf = (spec: JsonObject): JsonObject => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: meta('v1.a.example.com'),
  spec: { group: 'a.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10, ...spec },
});

/** A request of the user `u`, with a key on the curve P-256. */
const certificateRequest = base64(`-----BEGIN CERTIFICATE REQUEST-----
MIHHMG4CAQAwDDEKMAgGA1UEAwwBdTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IA
BBYZHDDNx2W+4tInUPv7U67nVrWAQxVpdbDNL08bsu6TnFLfYETKKo8VhpmilYbN
0LYUe96Xfiniix9+i0cbKk6gADAKBggqhkjOPQQDAgNJADBGAiEAx2Wh9iKJJFu1
WO1OX+qgn9InszyWsGJNK6JusKn8fRACIQC5aY5ic2BPOymDWu2mEzZkvCIzHXQm
KqYezvoyeMzXpg==
-----END CERTIFICATE REQUEST-----
`);
const requestOf = (change: JsonObject): JsonObject => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: meta('request'),
  spec: {
    request: certificateRequest,
    signerName: 'example.com/signer',
    usages: ['client auth', 'signing'],
    expirationSeconds: 600,
    ...change,
  },
});
const condition = { type: 'Approved', status: 'True', reason: 'r', message: 'm' };

export const extensionSamples: readonly Sample[] = [
  {
    path: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    object: requestOf({}),
    more: [
      requestOf({ usages: ['client auth', 'client auth', 'x'] }),
      requestOf({ signerName: 'kubernetes.io/legacy-unknown' }),
      requestOf({ signerName: 'a/b/c' }),
      requestOf({ request: base64('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n') }),
    ],
    statuses: [
      ['approval', withStatus({ conditions: [condition] })],
      [
        'approval',
        withStatus({ conditions: [condition, { ...condition, type: 'Denied' }, { ...condition, status: 'False' }] }),
      ],
      ['status', withStatus({ conditions: [{ ...condition, type: 'Failed' }] })],
      ['status', withStatus({ conditions: [condition] })],
      ['status', withStatus({ certificate: base64('x') })],
      ['status', withStatus({ certificate: certificateRequest })],
    ],
  },
  {
    path: `${admission}/validatingwebhookconfigurations`,
    object: webhookOf(full),
    more: [
      ...[
        'http://a',
        'https://',
        'https://u@h',
        'https://h/#f',
        'https://h?q',
        ':',
        'https://h:x',
        'https://a b',
        'a:b',
        '%zz',
      ].map((url) => clientOf({ url })),
      clientOf({}),
      clientOf({ url: 'https://a', service: { name: 'n', namespace: 'n' } }),
      ...['//', '/a//b', 'a', '/A_b/', '/'].map((path) => clientOf({ service: { name: 'n', namespace: 'ns', path } })),
      rulesOf({ operations: ['*', 'CREATE'] }),
      rulesOf({ apiGroups: ['*', 'x'], apiVersions: ['*', 'v1', ''] }),
      ...[
        ['*', 'pods'],
        ['*/*', 'a'],
        ['pods/*', 'pods/status'],
        ['*/status', 'pods/status'],
        ['', 'a'],
        ['pods', '*'],
      ].map((resources) => rulesOf({ resources })),
      rulesOf({ scope: 'Wrong' }),
      webhookOf({ name: 'a.b' }),
      webhookOf({ admissionReviewVersions: ['v2'] }),
      webhookOf({ admissionReviewVersions: ['v1', 'v1', 'A'] }),
      webhookOf({ sideEffects: 'Some' }),
      ...[
        'x +',
        '1',
        'object.x == params.y',
        'unknown',
        "authorizer.group('').resource('pods').check('get').allowed()",
      ].map((expression) => webhookOf({ matchConditions: [{ name: 'c', expression }] })),
      webhookOf({
        matchConditions: [{ name: 'c', expression: ' ' }, { name: 'c', expression: 'true' }, { expression: 'true' }],
      }),
    ],
  },
  {
    path: `${admission}/mutatingwebhookconfigurations`,
    object: webhookOf({ ...full, reinvocationPolicy: 'Never' }, true),
  },
  {
    path: `${admission}/validatingadmissionpolicies`,
    object: policyOf({
      paramKind: { apiVersion: 'a.b/v1', kind: 'Params' },
      matchConditions: [{ name: 'c', expression: 'true' }],
      variables: [
        { name: 'v', expression: 'object.x' },
        { name: 'w', expression: "'text'" },
      ],
      validations: [
        { expression: 'variables.v == 1', message: 'm', reason: 'Invalid', messageExpression: "'x' + variables.w" },
      ],
      auditAnnotations: [{ key: 'k', valueExpression: "'a'" }],
    }),
    more: [
      policyOf({ validations: [] }),
      ...[
        '1',
        'x',
        'params.x == 1',
        "'a' + 1",
        'object.x',
        'request.name',
        'request.nope',
        'namespaceObject.metadata.name == 1',
      ].map((expression) => policyOf({ validations: [{ expression }] })),
      policyOf({ validations: [{ expression: 'true', message: 'a\nb' }] }),
      policyOf({ validations: [{ expression: 'true', message: ' ', messageExpression: ' ' }] }),
      policyOf({ validations: [{ expression: 'true', messageExpression: '1' }] }),
      policyOf({
        validations: [{ expression: 'true', messageExpression: "authorizer.path('/x').check('get').reason()" }],
      }),
      policyOf({
        auditAnnotations: [
          { key: 'a/b', valueExpression: '1' },
          { key: 'k', valueExpression: 'null' },
          { key: 'k', valueExpression: "''" },
        ],
      }),
      policyOf({
        variables: [
          { name: 'a-b', expression: '1 +' },
          { name: 'in', expression: ' ' },
        ],
        validations: [{ expression: 'variables.zzz' }],
      }),
      policyOf({ paramKind: { apiVersion: 'a/b/c', kind: 'K_' } }),
      policyOf({ paramKind: { apiVersion: 'v1', kind: 'Secret' }, validations: [{ expression: 'params.x == 1' }] }),
      policyOf({ matchConstraints: {} }),
    ],
  },
  {
    path: `${admission}/validatingadmissionpolicybindings`,
    object: bindingOf('ValidatingAdmissionPolicyBinding', {
      validationActions: ['Deny'],
      paramRef: { name: 'x', parameterNotFoundAction: 'Deny' },
    }),
    more: [
      bindingOf('ValidatingAdmissionPolicyBinding', { validationActions: ['Deny', 'Warn', 'Deny', 'X'] }),
      bindingOf('ValidatingAdmissionPolicyBinding', {
        validationActions: ['Audit'],
        paramRef: { name: 'a/b', selector: {}, parameterNotFoundAction: 'X' },
      }),
    ],
  },
  {
    path: `${admission}/mutatingadmissionpolicies`,
    object: mutatingOf({
      variables: [{ name: 'v', expression: '1' }],
      mutations: [
        { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } },
        { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "add", path: "/x", value: variables.v}]' } },
      ],
    }),
    more: [
      mutatingOf({ matchConstraints: { resourceRules: [{ ...rule, operations: ['DELETE'] }] } }),
      mutatingOf({ mutations: [{ patchType: 'JSONPatch', applyConfiguration: { expression: 'Object{}' } }] }),
      mutatingOf({ mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: '1' } }] }),
      mutatingOf({ mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[1]' } }] }),
    ],
  },
  {
    path: `${admission}/mutatingadmissionpolicybindings`,
    object: bindingOf('MutatingAdmissionPolicyBinding', {
      paramRef: { selector: {}, parameterNotFoundAction: 'Allow' },
    }),
    more: [
      bindingOf('MutatingAdmissionPolicyBinding', {
        matchResources: { resourceRules: [{ ...rule, operations: ['DELETE'] }] },
      }),
    ],
  },
  {
    path: '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
    object: {
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      kind: 'FlowSchema',
      metadata: meta('schema'),
      spec: {
        matchingPrecedence: 500,
        priorityLevelConfiguration: { name: 'x' },
        distinguisherMethod: { type: 'ByUser' },
        rules: [
          {
            subjects: [
              { kind: 'User', user: { name: 'u' } },
              { kind: 'Group', group: { name: 'g' } },
              { kind: 'ServiceAccount', serviceAccount: { name: 'a', namespace: 'n' } },
            ],
            resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['x'] }],
            nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/x/*'] }],
          },
        ],
      },
    },
    more: [
      {
        apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
        kind: 'FlowSchema',
        metadata: meta('exempt'),
        spec: { matchingPrecedence: 2, priorityLevelConfiguration: { name: 'exempt' } },
      },
    ],
  },
  {
    path: '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations',
    object: levelOf('level', {
      type: 'Limited',
      limited: {
        nominalConcurrencyShares: 5,
        lendablePercent: 10,
        borrowingLimitPercent: 10,
        limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } },
      },
    }),
    more: [
      levelOf('level', { type: 'Exempt' }),
      levelOf('level', { type: 'Limited', exempt: {} }),
      levelOf('exempt', { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } }),
      levelOf('exempt', { type: 'Exempt', exempt: { lendablePercent: 101, nominalConcurrencyShares: -1 } }),
      levelOf('catch-all', { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } }),
      levelOf('level', { type: 'Limited', limited: { limitResponse: { type: 'Reject', queuing: {} } } }),
      levelOf('level', {
        type: 'Limited',
        limited: { limitResponse: { type: 'Queue', queuing: { queues: 1024, handSize: 12, queueLengthLimit: 1 } } },
      }),
    ],
  },
  {
    path: '/apis/apiregistration.k8s.io/v1/apiservices',
    object: serviceOf({ service: { name: 'n', namespace: 'ns', port: 443 }, insecureSkipTLSVerify: true }),
    more: [
      serviceOf({ caBundle: 'AAAA', insecureSkipTLSVerify: true }),
      serviceOf({ service: { name: 'n', namespace: 'ns' }, caBundle: 'AAAA', insecureSkipTLSVerify: true }),
    ],
  },
  {
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    createOnly: true,
    object: reviewOf('SubjectAccessReview', {
      user: 'u',
      resourceAttributes: {
        resource: 'pods',
        fieldSelector: { requirements: [{ key: 'a', operator: 'In', values: ['b'] }] },
        labelSelector: { requirements: [{ key: 'a', operator: 'Exists' }] },
      },
    }),
    more: [
      reviewOf('SubjectAccessReview', {}),
      reviewOf('SubjectAccessReview', {
        user: 'u',
        resourceAttributes: {},
        nonResourceAttributes: { path: '/x', verb: 'get' },
      }),
      reviewOf('SubjectAccessReview', {
        user: 'u',
        resourceAttributes: { labelSelector: { rawSelector: 'a', requirements: [{ key: '', operator: 'X' }] } },
      }),
    ],
  },
  {
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    createOnly: true,
    object: reviewOf('SelfSubjectAccessReview', { resourceAttributes: { resource: 'pods' } }),
  },
  {
    path: namespaced('/apis/authorization.k8s.io/v1', 'localsubjectaccessreviews'),
    createOnly: true,
    object: reviewOf(
      'LocalSubjectAccessReview',
      { user: 'u', resourceAttributes: { resource: 'pods', namespace: 'default' } },
      { namespace: 'default' },
    ),
    more: [
      reviewOf(
        'LocalSubjectAccessReview',
        { user: 'u', nonResourceAttributes: { path: '/x' } },
        { namespace: 'default' },
      ),
    ],
  },
];
