import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtinKinds, schemaOfKind } from '../builtin/schemas.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import { randomObject, seededRandom } from '../testing/random-object.ts';
import { withNulls } from '../strategy/testing/with-nulls.ts';
import { imageTag } from './image.ts';
import { applyDefaults } from './index.ts';
import { aggregateContainers, roundResources } from './resource-list.ts';

const defaulted = (apiVersion: string, kind: string, body: JsonObject): KubeObject => {
  const object = { apiVersion, kind, metadata: {}, ...structuredClone(body) } as KubeObject;
  applyDefaults(object);
  return object;
};
const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, name) => (inner as JsonObject | undefined)?.[name], value);

test('kinds without defaults stay as they are', () => {
  for (const [apiVersion, kind] of [
    ['v1', 'ConfigMap'],
    ['coordination.k8s.io/v1', 'Lease'],
    ['rbac.authorization.k8s.io/v1', 'Role'],
    ['example.com/v1', 'Unknown'],
  ] as const) {
    assert.deepEqual(defaulted(apiVersion, kind, { data: { a: 'b' } }), {
      apiVersion,
      kind,
      metadata: {},
      data: { a: 'b' },
    });
  }
});

test('a deployment that says nothing rolls one replica', () => {
  const { spec } = defaulted('apps/v1', 'Deployment', {});
  assert.equal(at(spec, 'replicas'), 1);
  assert.deepEqual(at(spec, 'strategy'), {
    type: 'RollingUpdate',
    rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' },
  });
  assert.equal(at(spec, 'template.spec.terminationGracePeriodSeconds'), 30);
});

test('requests follow limits in a pod, not in a template', () => {
  const containers = [{ name: 'a', resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '0.1' } } }];
  const pod = defaulted('v1', 'Pod', { spec: { containers } });
  assert.deepEqual(at(pod, 'spec.containers.0.resources.requests'), { cpu: '0.1', memory: '1Gi' });
  const template = defaulted('v1', 'PodTemplate', { template: { spec: { containers } } });
  assert.deepEqual(at(template, 'template.spec.containers.0.resources.requests'), { cpu: '0.1' });
});

test('a null in a list of structs is an empty struct', () => {
  const pod = defaulted('v1', 'Pod', { spec: { containers: [null] } });
  assert.equal(at(pod, 'spec.containers.0.terminationMessagePath'), '/dev/termination-log');
});

test('keys that clients choose may be any, also __proto__', () => {
  const limits = JSON.parse('{"__proto__": "1", "constructor": "2", "cpu": "0.0001"}') as JsonObject;
  const pod = defaulted('v1', 'Pod', { spec: { containers: [{ resources: { limits } }] } });
  const requests = at(pod, 'spec.containers.0.resources.requests') as JsonObject;
  assert.deepEqual(Object.entries(requests).sort(), [
    ['__proto__', '1'],
    ['constructor', '2'],
    ['cpu', '1m'],
  ]);
  assert.equal(Object.getPrototypeOf(requests), Object.prototype);
  const secret = defaulted('v1', 'Secret', { stringData: JSON.parse('{"__proto__": "x"}') as JsonObject });
  assert.equal(JSON.stringify(secret['data']), '{"__proto__":"eA=="}');
});

test('the tag of an image is found as container runtimes find it', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const cases: Record<string, string> = {
    nginx: 'latest',
    'nginx:latest': 'latest',
    'nginx:1.2': '1.2',
    'localhost/a': 'latest',
    'localhost:5000/a/b:v1': 'v1',
    'registry.example:443/a': 'latest',
    [`nginx@${digest}`]: '',
    [`nginx:latest@${digest}`]: 'latest',
    'nginx@sha256:abc': '',
    'nginx:latest@sha256:zz': '',
    'Nginx:latest': '',
    'A/b:latest': 'latest',
    '': '',
    ' ': '',
    'a b': '',
    'a//b': '',
    ['a'.repeat(64)]: '',
    ['f'.repeat(64)]: '',
    ['x'.repeat(5000)]: '',
    '[::1]:80/a:t': 't',
    a__b: 'latest',
    a___b: '',
    'index.docker.io/a': 'latest',
  };
  for (const [image, tag] of Object.entries(cases)) assert.equal(imageTag(image), tag, image);
});

test('resources are rounded up to thousandths', () => {
  const list = { a: '1', b: '0.0001', c: '1.5Gi', d: '-0.0001', e: '100u', f: '1500m', g: '1.234567', h: 0.25 };
  roundResources(list);
  assert.deepEqual(list, { a: '1', b: '1m', c: '1.5Gi', d: '-1m', e: '1m', f: '1500m', g: '1235m', h: 0.25 });
});

test('a pod needs all its containers, or an init container with the sidecars before it', () => {
  const needs = (cpu: string, more: JsonObject = {}): JsonObject => ({ resources: { requests: { cpu } }, ...more });
  const spec = {
    initContainers: [
      needs('100m', { restartPolicy: 'Always' }),
      needs('2'),
      needs('300m', { restartPolicy: 'Always' }),
    ],
    containers: [needs('500m'), needs('1')],
  };
  assert.deepEqual([...aggregateContainers(spec, 'requests')], [['cpu', '2100m']]);
});

test('defaulting twice is defaulting once, whatever an object of any kind has or has not', () => {
  const random = seededRandom(7);
  for (const kind of builtinKinds()) {
    const schema = schemaOfKind(kind)!;
    const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
    for (let i = 0; i < 5; i++) {
      const object = withNulls(randomObject(schema, random), random) as KubeObject;
      Object.assign(object, { apiVersion, kind: kind.kind, metadata: object.metadata ?? {} });
      applyDefaults(object);
      const once = JSON.stringify(object);
      applyDefaults(object);
      assert.equal(JSON.stringify(object), once, `${apiVersion} ${kind.kind}`);
    }
  }
});
