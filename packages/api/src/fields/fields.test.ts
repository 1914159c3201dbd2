import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schemaOf } from '../builtin/schemas.ts';
import type { StructType } from '../builtin/types.ts';
import { parseJson } from '../json/parse.ts';
import { checkFields } from './check.ts';
import { normalise, normaliseExact, normaliseSharing } from './normalise.ts';

const deployment = schemaOf('apps/v1', 'Deployment')!;
const configMap = schemaOf('v1', 'ConfigMap')!;
const definition = schemaOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition')!;

const into = (field: string): string => `into Go struct field ${field}`;
const errors: [name: string, spec: unknown, error: string][] = [
  ['a text for a number', { replicas: 'x' }, `string ${into('DeploymentSpec.spec.replicas of type int32')}`],
  ['a fraction', { replicas: 1.5 }, `number 1.5 ${into('DeploymentSpec.spec.replicas of type int32')}`],
  ['a large number', { replicas: 3e9 }, `number 3000000000 ${into('DeploymentSpec.spec.replicas of type int32')}`],
  ['a list for a struct', [], `array ${into('Deployment.spec of type v1.DeploymentSpec')}`],
  [
    'an object for a list',
    { template: { spec: { containers: {} } } },
    `object ${into('PodSpec.spec.template.spec.containers of type []v1.Container')}`,
  ],
  [
    'a named text',
    { template: { spec: { containers: [{ ports: [{ protocol: 7 }] }] } } },
    `number ${into('ContainerPort.spec.template.spec.containers.ports.protocol of type v1.Protocol')}`,
  ],
  [
    'a field inside an inlined struct',
    { template: { spec: { volumes: [{ emptyDir: { medium: 7 } }] } } },
    `number ${into('EmptyDirVolumeSource.spec.template.spec.volumes.VolumeSource.emptyDir.medium of type v1.StorageMedium')}`,
  ],
  [
    'a value of a map',
    { selector: { matchLabels: { a: 5 } } },
    `number ${into('LabelSelector.spec.selector.matchLabels of type string')}`,
  ],
  [
    'int-or-string, which wins over the first mismatch',
    { replicas: 'x', strategy: { rollingUpdate: { maxSurge: true } } },
    `bool ${into('RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32')}`,
  ],
];
for (const [name, spec, error] of errors) {
  test(`a type error in kube-apiserver's words: ${name}`, () => {
    const report = checkFields(deployment, { spec, unknown: 1 });
    assert.equal(report.error, `json: cannot unmarshal ${error}`);
    assert.deepEqual(report.problems, []);
  });
}

test('unknown and repeated fields are listed with their paths, in the order of the text', () => {
  const text =
    '{"what":1,"spec":{"foo":{"a":1,"a":2},"replicas":1,"replicas":2,"template":{"metadata":{"labels":{"a":"1","a":"2"}},' +
    '"spec":{"containers":[{"name":"x","nope":1,"name":"y"},{"zip":1,"livenessProbe":{"no":1}}]}}}}';
  const { value, repeated } = parseJson(text, { findRepeated: true });
  assert.deepEqual(checkFields(deployment, value, { repeated }), {
    error: undefined,
    problems: [
      'unknown field "what"',
      'unknown field "spec.foo"',
      'duplicate field "spec.replicas"',
      'duplicate field "spec.template.metadata.labels.a"',
      'unknown field "spec.template.spec.containers[0].nope"',
      'duplicate field "spec.template.spec.containers[0].name"',
      'unknown field "spec.template.spec.containers[1].zip"',
      'unknown field "spec.template.spec.containers[1].livenessProbe.no"',
    ],
  });
});

test('names of prototypes and other spellings are unknown fields', () => {
  const { value } = parseJson('{"__proto__":{},"constructor":1,"Data":{},"toString":1}');
  assert.deepEqual(checkFields(configMap, value).problems, [
    'unknown field "__proto__"',
    'unknown field "constructor"',
    'unknown field "Data"',
    'unknown field "toString"',
  ]);
});

test('no more than a hundred problems are listed', () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x${i}`, 1]));
  assert.equal(checkFields(configMap, many).problems.length, 100);
});

test('base64 is checked as Go checks it', () => {
  const check = (text: string): string | undefined => checkFields(configMap, { binaryData: { a: text } }).error;
  assert.equal(check('aGVsbG8='), undefined);
  assert.equal(check('aGVs\nbG8='), undefined);
  assert.equal(check('?'), 'illegal base64 data at input byte 0');
  assert.equal(check('hello'), 'illegal base64 data at input byte 4');
});

test('schemas inside a CustomResourceDefinition have their own shapes', () => {
  const version = (schema: unknown): object => ({ spec: { versions: [{ schema: { openAPIV3Schema: schema } }] } });
  const schema = { additionalProperties: false, items: { type: 'string', nope: 1 }, nope: 1, default: { any: [1] } };
  assert.deepEqual(checkFields(definition, version(schema)), {
    error: undefined,
    problems: ['unknown field "spec.versions[0].schema.openAPIV3Schema.nope"'],
  });
  const wrong = checkFields(definition, version({ additionalProperties: 5 }));
  assert.equal(wrong.error, 'boolean or JSON schema expected');
});

test('normalising gives what the server would write', () => {
  const given = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    zip: 1,
    spec: {
      foo: 1,
      template: {
        spec: {
          containers: [
            { resources: { limits: { memory: '1024Mi', cpu: '1000m' } }, name: 'a', image: '', env: [], nope: 1 },
          ],
          volumes: [{ emptyDir: { sizeLimit: 1000 }, name: 'v' }],
        },
      },
    },
    metadata: { creationTimestamp: '2026-01-02T05:04:05+02:00', name: 'n', labels: { b: null, a: '1' } },
  };
  assert.equal(
    JSON.stringify(normalise(deployment, given)),
    JSON.stringify({
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      metadata: { name: 'n', creationTimestamp: '2026-01-02T03:04:05Z', labels: { a: '1', b: '' } },
      spec: {
        selector: null,
        template: {
          metadata: {},
          spec: {
            volumes: [{ name: 'v', emptyDir: { sizeLimit: '1k' } }],
            containers: [{ name: 'a', resources: { limits: { cpu: '1', memory: '1Gi' } } }],
          },
        },
        strategy: {},
      },
      status: {},
    }),
  );
});

test('an object is normalised without a check exactly when the check has nothing to report', () => {
  const pod = schemaOf('v1', 'Pod')!;
  const secret = schemaOf('v1', 'Secret')!;
  const spec = (container: object): object => ({ spec: { containers: [{ name: 'a', ...container }] } });
  const given: [StructType, object][] = [
    [pod, { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' } }],
    [pod, { kind: 5 }],
    [pod, { nope: 1 }],
    [pod, { __proto__: null, constructor: 1 }],
    [pod, spec({ ports: [{ containerPort: 80 }, null], nope: undefined })],
    [pod, spec({ ports: [{ containerPort: 2 ** 31 }] })],
    [pod, spec({ ports: [{ containerPort: 1.5 }] })],
    [pod, spec({ ports: [{ containerPort: '80' }] })],
    [pod, spec({ ports: { containerPort: 80 } })],
    [pod, spec({ resources: { limits: { cpu: '1', memory: 5 } } })],
    [pod, spec({ resources: { limits: { cpu: 'x' } } })],
    [pod, spec({ resources: { limits: { cpu: true } } })],
    [pod, spec({ livenessProbe: { httpGet: { port: 'http' } } })],
    [pod, spec({ livenessProbe: { httpGet: { port: 2 ** 31 } } })],
    [pod, spec({ livenessProbe: { httpGet: { port: 1.5 } } })],
    [pod, { metadata: { creationTimestamp: '2026-01-02T05:04:05Z', labels: { a: null, b: 'c' } } }],
    [pod, { metadata: { creationTimestamp: 'yesterday' } }],
    [pod, { metadata: { labels: { a: 1 } } }],
    [secret, { data: { a: 'YQ==', b: null } }],
    [secret, { data: { a: 'YQ=\n=' } }],
    [secret, { data: { a: 'YR==' } }],
    [secret, { data: { a: 'YQ' } }],
    [secret, { data: { a: '!' } }],
  ];
  for (const [struct, object] of given) {
    const { error, problems } = checkFields(struct, object);
    const exact = normaliseExact(struct, object as Record<string, unknown>);
    assert.equal(exact !== undefined, error === undefined && problems.length === 0, JSON.stringify(object));
    if (exact) assert.deepEqual(exact, normalise(struct, object as Record<string, unknown>));
  }
});

test('parts that are in normal form are shared, and the text is the same', () => {
  const pod = schemaOf('v1', 'Pod')!;
  const given: Record<string, unknown>[] = [
    { kind: 'Pod', metadata: { name: 'a', labels: { b: '1', a: '2' } }, spec: { containers: [{ name: 'a' }] } },
    { spec: { containers: [{ name: 'a', resources: {} }, null, { image: 'b', name: 'a', unknown: 1 }] } },
    { spec: { containers: [{ name: 'a', resources: { limits: { cpu: '1000m' } } }], volumes: [] } },
    { spec: { containers: [{ name: 'a', resources: {}, env: [{ name: 'A', value: '' }] }], hostname: '' } },
    { spec: { nodeName: 'n', containers: null }, metadata: { name: 'a', creationTimestamp: null }, status: {} },
  ];
  for (const object of given) {
    const before = JSON.stringify(object);
    assert.equal(JSON.stringify(normaliseSharing(pod, object)), JSON.stringify(normalise(pod, object)));
    assert.equal(JSON.stringify(object), before);
  }
  const whole = normalise(pod, given[3]!);
  const again = normaliseSharing(pod, whole);
  assert.equal(again['spec'], whole['spec']);
});
