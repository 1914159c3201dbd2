/** Cases for the results of ValidatingAdmissionPolicies and their failures. */

import { configMapsIn, createConfigMap, post, validating } from './policy-case.ts';
import type { PolicyCase } from './policy-case.ts';

const never = [{ expression: 'false' }];
const always = [{ expression: 'true' }];

const messages: readonly PolicyCase[] = [
  validating('the expression is the message', { validations: [{ expression: " object.data.a == 'b' " }] }, (ns) => [
    createConfigMap(ns, 'a', { a: 'b' }),
    createConfigMap(ns, 'b', { a: 'c' }),
    createConfigMap(ns, 'c', {}),
  ]),
  validating('a message of its own', { validations: [{ expression: 'false', message: ' no way ' }] }, (ns) => [
    createConfigMap(ns, 'a'),
  ]),
  validating(
    'an expression makes the message',
    {
      validations: [
        {
          expression: "object.data.a == 'b'",
          message: 'plain',
          messageExpression: "'a is ' + object.data.a + ' in ' + request.namespace",
        },
      ],
    },
    (ns) => [createConfigMap(ns, 'a', { a: 'c' })],
  ),
  validating(
    'an expression that fails or says nothing usable leaves the message',
    {
      validations: [
        { expression: "object.data.a != '1'", message: 'one', messageExpression: 'object.data.missing' },
        { expression: "object.data.a != '2'", message: 'two', messageExpression: "'line\\nbreak'" },
        { expression: "object.data.a != '3'", message: 'three', messageExpression: "'   '" },
        { expression: "object.data.a != '4'", messageExpression: "['x'].map(x, x + x)[0] + ' '" },
      ],
    },
    (ns) => ['1', '2', '3', '4'].map((a) => createConfigMap(ns, `a${a}`, { a })),
  ),
  ...['Unauthorized', 'Forbidden', 'Invalid', 'RequestEntityTooLarge'].map((reason) =>
    validating(`the reason ${reason}`, { validations: [{ expression: 'false', reason }] }, (ns) => [
      createConfigMap(ns, 'a'),
    ]),
  ),
  validating(
    'the first of several',
    { validations: [...always, { expression: 'false', message: 'second' }, ...never] },
    (ns) => [createConfigMap(ns, 'a')],
  ),
  validating('names that are generated', { validations: never }, (ns) => [
    post(
      configMapsIn(ns),
      { kind: 'ConfigMap', apiVersion: 'v1', metadata: { generateName: 'x-' } },
      { codeOnly: true },
    ),
  ]),
];

/** Costs a hundredth of the product of the lengths, and takes almost no time. */
const costly = '!object.data.a.contains(object.data.b)';
const searched = (length: number) => ({ a: 'x'.repeat(length), b: 'y'.repeat(length) });

const failures: readonly PolicyCase[] = [
  validating('a missing key', { validations: [{ expression: 'object.data.missing.deeper == 1' }] }, (ns) => [
    createConfigMap(ns, 'a', { a: 'b' }),
  ]),
  validating(
    'a missing key that is let pass',
    { failurePolicy: 'Ignore', validations: [{ expression: 'object.data.missing == 1' }] },
    (ns) => [createConfigMap(ns, 'a', { a: 'b' })],
  ),
  validating(
    'failing and denying at once, when failing is let pass',
    {
      failurePolicy: 'Ignore',
      validations: [{ expression: 'object.data.missing == 1' }, { expression: 'false', message: 'denied' }],
    },
    (ns) => [createConfigMap(ns, 'a', { a: 'b' })],
  ),
  validating('a division by zero', { validations: [{ expression: '1 / (size(object.data) - 1) > 0' }] }, (ns) => [
    createConfigMap(ns, 'a', { a: 'b' }),
  ]),
  validating('types that do not fit', { validations: [{ expression: 'object.data.a > 1' }] }, (ns) => [
    createConfigMap(ns, 'a', { a: 'b' }),
  ]),
  validating('an index out of bounds', { validations: [{ expression: '[1, 2][int(object.data.a)] > 0' }] }, (ns) => [
    createConfigMap(ns, 'a', { a: '1' }),
    createConfigMap(ns, 'b', { a: '2' }),
    createConfigMap(ns, 'c', { a: 'x' }),
  ]),
  validating('an expression that costs too much', { validations: [{ expression: costly }] }, (ns) => [
    createConfigMap(ns, 'a', searched(20_000)),
    createConfigMap(ns, 'b', searched(2_000)),
  ]),
  validating(
    'expressions that cost too much together',
    { validations: Array.from({ length: 15 }, () => ({ expression: costly })) },
    (ns) => [
      createConfigMap(ns, 'a', searched(9_000)),
      createConfigMap(ns, 'b', searched(20_000)),
      createConfigMap(ns, 'c', searched(7_000)),
    ],
  ),
  validating(
    'variables that cost too much together',
    {
      variables: Array.from({ length: 15 }, (_, i) => ({ name: `v${i}`, expression: costly })),
      validations: [{ expression: Array.from({ length: 15 }, (_, i) => `variables.v${i}`).join(' && ') }],
    },
    (ns) => [createConfigMap(ns, 'a', searched(9_000)), createConfigMap(ns, 'b', searched(7_000))],
  ),
];

const variables: readonly PolicyCase[] = [
  validating(
    'variables that build on each other',
    {
      variables: [
        { name: 'data', expression: 'object.data' },
        { name: 'sum', expression: 'int(variables.data.a) + int(variables.data.b)' },
        { name: 'unused', expression: 'object.missing' },
      ],
      validations: [{ expression: 'variables.sum < 10', messageExpression: "'sum is ' + string(variables.sum)" }],
    },
    (ns) => [createConfigMap(ns, 'a', { a: '1', b: '2' }), createConfigMap(ns, 'b', { a: '10', b: '2' })],
  ),
  validating(
    'a variable that fails',
    {
      variables: [{ name: 'gone', expression: 'object.data.missing' }],
      validations: [{ expression: "variables.gone == 'x' || object.data.a == 'b'" }],
    },
    (ns) => [createConfigMap(ns, 'a', { a: 'b' }), createConfigMap(ns, 'b', { a: 'c' })],
  ),
  validating(
    'presence of a variable, and optional selection',
    {
      variables: [{ name: 'labels', expression: 'object.metadata.?labels.orValue({})' }],
      validations: [{ expression: "has(variables.labels.app) && variables.labels.?app.orValue('') == 'web'" }],
    },
    (ns) => [
      createConfigMap(ns, 'a', {}, { labels: { app: 'web' } }),
      createConfigMap(ns, 'b', {}, { labels: { app: 'db' } }),
      createConfigMap(ns, 'c'),
    ],
  ),
];

const conditions: readonly PolicyCase[] = [
  validating(
    'conditions that exempt',
    {
      matchConditions: [
        { name: 'labelled', expression: "object.metadata.?labels.?exempt.orValue('') != 'yes'" },
        { name: 'named', expression: "request.name != 'free'" },
      ],
      validations: never,
    },
    (ns) => [
      createConfigMap(ns, 'a'),
      createConfigMap(ns, 'b', {}, { labels: { exempt: 'yes' } }),
      createConfigMap(ns, 'free'),
    ],
  ),
  validating(
    'conditions that fail, beside one that is false',
    {
      matchConditions: [
        { name: 'fails', expression: "object.data.missing == 'x'" },
        { name: 'fails-too', expression: "object.data.gone == 'x'" },
        { name: 'named', expression: "request.name != 'free'" },
      ],
      validations: never,
    },
    (ns) => [createConfigMap(ns, 'a', { a: 'b' }), createConfigMap(ns, 'free')],
  ),
  validating(
    'conditions that fail and are let pass',
    {
      failurePolicy: 'Ignore',
      matchConditions: [{ name: 'fails', expression: "object.data.missing == 'x'" }],
      validations: never,
    },
    (ns) => [createConfigMap(ns, 'a', { a: 'b' })],
  ),
];

const actions: readonly PolicyCase[] = [
  validating(
    'warnings',
    { validations: [...never, { expression: 'false', message: 'and "this"' }] },
    (ns) => [createConfigMap(ns, 'a')],
    {
      binding: { validationActions: ['Warn'] },
    },
  ),
  validating(
    'warnings of failures',
    { validations: [{ expression: 'object.data.missing == 1' }] },
    (ns) => [createConfigMap(ns, 'a', { a: 'b' })],
    {
      binding: { validationActions: ['Warn', 'Audit'] },
    },
  ),
  validating('audit alone', { validations: never }, (ns) => [createConfigMap(ns, 'a')], {
    binding: { validationActions: ['Audit'] },
  }),
  validating(
    'audit annotations',
    {
      auditAnnotations: [
        { key: 'a', valueExpression: "'value ' + object.data.a" },
        { key: 'none', valueExpression: "object.data.a == 'b' ? dyn(null) : dyn('x')" },
      ],
    },
    (ns) => [createConfigMap(ns, 'a', { a: 'b' }), createConfigMap(ns, 'b')],
    { binding: { validationActions: ['Audit'] } },
  ),
  validating(
    'audit annotations that fail and are let pass',
    { failurePolicy: 'Ignore', auditAnnotations: [{ key: 'a', valueExpression: 'string(object.data.missing)' }] },
    (ns) => [createConfigMap(ns, 'a', { a: 'b' })],
    { binding: { validationActions: ['Audit'] } },
  ),
  validating('a policy that nobody bound', { validations: never }, (ns) => [createConfigMap(ns, 'a')], {
    binding: null,
  }),
];

const told: readonly PolicyCase[] = [
  validating(
    'the request',
    {
      validations: [
        {
          expression: 'false',
          messageExpression:
            "request.operation + ' ' + request.kind.kind + ' ' + request.resource.resource + ' ' + request.name + ' ' + request.userInfo.username + ' ' + request.userInfo.groups.join(',') + ' ' + request.userInfo.uid",
        },
      ],
    },
    (ns) => [createConfigMap(ns, 'a')],
  ),
  validating(
    'the options',
    {
      validations: [
        {
          expression: 'false',
          messageExpression:
            "request.options.kind + ' ' + request.options.apiVersion + ' ' + request.options.?fieldManager.orValue('-') + ' ' + request.options.?fieldValidation.orValue('-') + ' ' + request.options.?dryRun.orValue(['-']).join(',')",
        },
      ],
    },
    (ns) => [
      { ...createConfigMap(ns, 'a'), path: `${configMapsIn(ns)}?fieldManager=me&fieldValidation=Strict&dryRun=All` },
      createConfigMap(ns, 'a'),
    ],
  ),
  validating(
    'what the request leaves out',
    { validations: [{ expression: 'has(request.subResource) || has(request.userInfo.extra) || has(request.object)' }] },
    (ns) => [createConfigMap(ns, 'a')],
  ),
  validating(
    'the namespace',
    {
      validations: [
        {
          expression: "namespaceObject.metadata.labels.tier == 'gold' && namespaceObject.status.phase == 'Active'",
          messageExpression: "namespaceObject.metadata.name + ' ' + namespaceObject.metadata.labels.tier",
        },
      ],
    },
    (ns) => [createConfigMap(ns, 'a')],
    { labels: { tier: 'silver' } },
  ),
  validating(
    'the whole object',
    {
      validations: [
        {
          expression:
            "object.kind == 'ConfigMap' && object.apiVersion == 'v1' && has(object.metadata.uid) && has(object.metadata.creationTimestamp) && !has(object.metadata.resourceVersion) && oldObject == null",
        },
      ],
    },
    (ns) => [createConfigMap(ns, 'a')],
  ),
  validating(
    'the authorizer',
    {
      validations: [
        {
          expression:
            "authorizer.group('').resource('pods').namespace('default').check('create').allowed() && authorizer.requestResource.check('custom').allowed() && authorizer.path('/healthz').check('get').reason() == ''",
        },
      ],
    },
    (ns) => [createConfigMap(ns, 'a')],
  ),
  validating(
    'too many questions to the authorizer',
    {
      validations: [{ expression: "['a', 'b', 'c'].all(x, authorizer.group('').resource(x).check('get').allowed())" }],
    },
    (ns) => [createConfigMap(ns, 'a')],
  ),
  validating(
    'questions that mean nothing',
    {
      validations: [
        { expression: "object.data.a != '1' || authorizer.path(' ').check('get').allowed()" },
        { expression: "object.data.a != '2' || authorizer.group('').resource('').check('get').allowed()" },
        {
          expression:
            "object.data.a != '3' || authorizer.serviceAccount('default', 'A_b').group('').resource('x').check('get').allowed()",
        },
        {
          expression:
            "object.data.a != '4' || authorizer.serviceAccount('a.b', 'x').group('').resource('x').check('get').allowed()",
        },
        {
          expression:
            "object.data.a != '5' || authorizer.serviceAccount('a', 'x').group('').resource('x').check('get').errored()",
        },
      ],
    },
    (ns) => ['1', '2', '3', '4', '5'].map((a) => createConfigMap(ns, `a${a}`, { a })),
  ),
];

export const validatingCases: readonly PolicyCase[] = [
  ...messages,
  ...failures,
  ...variables,
  ...conditions,
  ...actions,
  ...told,
];
