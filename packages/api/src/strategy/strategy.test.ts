import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtinGroups, builtinResource, schemaOf } from '../builtin/schemas.ts';
import type { BuiltinResource } from '../builtin/schemas.ts';
import { applyDefaults } from '../defaults/index.ts';
import { normalise } from '../fields/normalise.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import { randomObject, seededRandom } from '../testing/random-object.ts';
import {
  applyScale,
  builtinStrategy,
  convert,
  dependentsPolicy,
  podGracePeriodSeconds,
  recordRequester,
  scaleOf,
} from './index.ts';
import type { Strategy } from './index.ts';
import { qosClass } from '../defaults/quality-of-service.ts';
import { equalAt } from '../fields/semantic-equality.ts';
import { withNulls } from './testing/with-nulls.ts';

const now = (): string => '2026-01-01T00:00:00Z';
const strategyOf = (group: string, version: string, resource: string): Strategy =>
  builtinStrategy(builtinResource({ group, version, resource })!, now);
const deployments = strategyOf('apps', 'v1', 'deployments');
const services = strategyOf('', 'v1', 'services');
const pods = strategyOf('', 'v1', 'pods');

const object = (apiVersion: string, kind: string, body: JsonObject = {}): KubeObject =>
  ({ apiVersion, kind, metadata: { name: 'x' }, ...structuredClone(body) }) as KubeObject;

test('a new object has no status of the client, and generation 1', () => {
  const deployment = object('apps/v1', 'Deployment', { status: { replicas: 3 }, metadata: { generation: 9 } });
  deployments.prepareForCreate(deployment);
  assert.equal(deployment['status'], undefined);
  assert.equal(deployment.metadata.generation, 1);
});

test('generation counts changes of the spec, not of labels, and clients cannot set it', () => {
  const old = object('apps/v1', 'Deployment', {
    spec: { replicas: 1 },
    status: { replicas: 1 },
    metadata: { generation: 4 },
  });
  const update = (body: JsonObject): KubeObject => {
    const changed = object('apps/v1', 'Deployment', { spec: { replicas: 1 }, ...body });
    deployments.prepareForUpdate(changed, old, '');
    return changed;
  };
  assert.equal(update({ metadata: { generation: 99, labels: { a: 'b' } } }).metadata.generation, 4);
  assert.equal(update({ spec: { replicas: 2 } }).metadata.generation, 5);
  assert.equal(update({ metadata: { annotations: { a: 'b' } } }).metadata.generation, 5);
  assert.deepEqual(update({ status: { replicas: 7 } })['status'], { replicas: 1 });
});

test('a write of the status changes nothing else that the kind protects', () => {
  const old = object('apps/v1', 'Deployment', {
    spec: { replicas: 1 },
    metadata: { generation: 4, labels: { a: 'a' } },
  });
  const changed = object('apps/v1', 'Deployment', {
    spec: { replicas: 9 },
    metadata: { labels: { a: 'b' }, annotations: { c: 'd' } },
    status: { replicas: 3 },
  });
  deployments.prepareForUpdate(changed, old, 'status');
  assert.deepEqual(changed, {
    ...old,
    metadata: { labels: { a: 'a' }, annotations: { c: 'd' }, generation: 4 },
    status: { replicas: 3 },
  });
});

test('equality is that of Go values: empty is absent, but not behind a pointer', () => {
  const schema = schemaOf('v1', 'Pod')!;
  const equal = (a: JsonObject, b: JsonObject): boolean => equalAt(schema, 'spec', { spec: a }, { spec: b });
  assert.ok(equal({}, { volumes: [], nodeSelector: {}, hostNetwork: false, nodeName: '', tolerations: null }));
  assert.ok(!equal({}, { securityContext: {} }));
  assert.ok(!equal({}, { activeDeadlineSeconds: 0 }));
  const limits = (cpu: string): JsonObject => ({ containers: [{ resources: { limits: { cpu } } }] });
  assert.ok(equal(limits('1'), limits('1000m')));
  assert.ok(!equal(limits('1'), limits('1001m')));
  assert.ok(!equal({ nodeSelector: { a: 'b' } }, { nodeSelector: { c: 'b' } }));
});

test('names follow the rule of their kind', () => {
  const cases: [Strategy, string, boolean, boolean][] = [
    [pods, 'a.b', false, true],
    [pods, 'A', false, false],
    [pods, 'a-', true, true],
    [pods, 'a-', false, false],
    [services, '1a', false, true],
    [services, 'a.b', false, false],
    [strategyOf('', 'v1', 'namespaces'), 'a.b', false, false],
    [strategyOf('apps', 'v1', 'statefulsets'), 'a.b', false, false],
    [strategyOf('rbac.authorization.k8s.io', 'v1', 'clusterroles'), 'system:A b', false, true],
    [strategyOf('rbac.authorization.k8s.io', 'v1', 'roles'), 'a/b', false, false],
    [strategyOf('rbac.authorization.k8s.io', 'v1', 'roles'), '..', false, false],
    [strategyOf('certificates.k8s.io', 'v1', 'certificatesigningrequests'), 'A', false, true],
    [strategyOf('networking.k8s.io', 'v1', 'ipaddresses'), '10.0.0.1', false, true],
    [strategyOf('networking.k8s.io', 'v1', 'ipaddresses'), '::0001', false, false],
    [strategyOf('', 'v1', 'events'), 'A_b', false, true],
    [strategyOf('events.k8s.io', 'v1', 'events'), 'A_b', false, false],
  ];
  for (const [strategy, name, isPrefix, isValid] of cases) {
    assert.equal(strategy.validateName(name, isPrefix).length === 0, isValid, name);
  }
});

test('who asks for a certificate is not who the request says', () => {
  const requests = strategyOf('certificates.k8s.io', 'v1', 'certificatesigningrequests');
  const request = object('certificates.k8s.io/v1', 'CertificateSigningRequest', {
    spec: { request: 'x', username: 'root', groups: ['system:masters'], uid: '0', extra: { a: ['b'] } },
  });
  requests.prepareForCreate(request);
  assert.deepEqual(request['spec'], { request: 'x' });
  recordRequester(request, { username: 'jane', groups: ['dev'] });
  assert.deepEqual(request['spec'], { request: 'x', username: 'jane', groups: ['dev'] });
});

test('a service keeps its addresses when a client does not know them, and loses them with its type', () => {
  const ports = [{ name: 'a', port: 1, nodePort: 30_001 }];
  const spec = { type: 'NodePort', clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ports };
  const old = object('v1', 'Service', { spec });
  const update = (body: JsonObject): JsonObject => {
    const changed = object('v1', 'Service', { spec: body });
    services.prepareForUpdate(changed, old, '');
    return changed['spec'] as JsonObject;
  };
  assert.deepEqual(update({ type: 'NodePort', ports: [{ name: 'a', port: 2 }] }), {
    ...spec,
    ports: [{ ...ports[0], port: 2 }],
  });
  assert.deepEqual(update({ ...spec, type: 'ExternalName' }), {
    type: 'ExternalName',
    ports: [{ name: 'a', port: 1 }],
  });
  assert.deepEqual(update({ ...spec, type: 'ClusterIP', ports: [{ name: 'a', port: 1, nodePort: 30_002 }] })['ports'], [
    { name: 'a', port: 1, nodePort: 30_002 },
  ]);
});

test('a resize changes resources and nothing else', () => {
  const old = object('v1', 'Pod', {
    spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
    metadata: { generation: 1 },
  });
  const resources = { limits: { cpu: '1' } };
  const changed = object('v1', 'Pod', { spec: { nodeName: 'm', containers: [{ name: 'c', image: 'j', resources }] } });
  pods.prepareForUpdate(changed, old, 'resize');
  assert.deepEqual(changed['spec'], { nodeName: 'n', containers: [{ name: 'c', image: 'i', resources }] });
  assert.equal(changed.metadata.generation, 2);
  const renamed = object('v1', 'Pod', { spec: { containers: [] } });
  pods.prepareForUpdate(renamed, old, 'resize');
  assert.deepEqual(renamed['spec'], { containers: [] }, 'left for validation to refuse');
});

test('the quality of service follows from CPU and memory', () => {
  const both = { cpu: '1', memory: '1Gi' };
  const of = (...containers: JsonObject[]): string =>
    qosClass({ containers: containers.map((resources) => ({ resources })) });
  assert.equal(of({}), 'BestEffort');
  assert.equal(of({ limits: both, requests: both }), 'Guaranteed');
  assert.equal(of({ limits: both, requests: both }, {}), 'Burstable');
  assert.equal(of({ limits: both, requests: { cpu: '1', memory: '1024Mi' } }), 'Guaranteed');
  assert.equal(of({ requests: { cpu: '0' } }), 'BestEffort');
  assert.equal(of({ requests: { 'example.com/gpu': '1' } }), 'BestEffort');
  assert.equal(qosClass({ containers: [{}], resources: { limits: both, requests: both } }), 'Guaranteed');
});

test('scales carry the selector as a query', () => {
  const spec = {
    replicas: 3,
    selector: {
      matchLabels: { b: '1', a: '2' },
      matchExpressions: [
        { key: 'c', operator: 'In', values: ['y', 'x'] },
        { key: 'd', operator: 'Exists' },
        { key: 'e', operator: 'DoesNotExist' },
      ],
    },
  };
  const deployment = object('apps/v1', 'Deployment', { spec, status: { replicas: 2 } });
  const scale = scaleOf(deployment);
  assert.deepEqual(scale['status'], { replicas: 2, selector: 'a=2,b=1,c in (x,y),d,!e' });
  applyScale(deployment, { ...scale, spec: {} });
  assert.equal((deployment['spec'] as JsonObject)['replicas'], 0);
});

test('an autoscaler goes to v1 and back without loss, and nonsense in its annotations is ignored', () => {
  const random = seededRandom(3);
  const schema = schemaOf('autoscaling/v2', 'HorizontalPodAutoscaler')!;
  const known = { Resource: 'resource', Pods: 'pods', Object: 'object', External: 'external' };
  for (let i = 0; i < 200; i++) {
    const random2 = randomObject(schema, random) as KubeObject;
    const metrics = Object.entries(known).map(([type, name]) => {
      const value = { type: 'AverageValue', averageValue: '3' };
      const metric = { name: 'm', metric: { name: 'm' }, describedObject: { kind: 'K', name: 'n' }, target: value };
      return { type, [name]: metric };
    });
    const spec = { ...(random2['spec'] as JsonObject), metrics };
    const given = {
      metadata: {},
      spec,
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      status: {},
    };
    applyDefaults(given);
    const before = normalise(schema, given) as KubeObject;
    const after = normalise(schema, convert(convert(before, 'autoscaling/v1'), 'autoscaling/v2'));
    assert.deepEqual(after, before);
  }
  for (const text of ['{', '5', '[5]', '[{"type":5}]', '[{"type":"Pods","pods":{"targetAverageValue":"x"}}]']) {
    const annotations = {
      'autoscaling.alpha.kubernetes.io/metrics': text,
      'autoscaling.alpha.kubernetes.io/behavior': text,
    };
    const v2 = convert(
      object('autoscaling/v1', 'HorizontalPodAutoscaler', { metadata: { annotations } }),
      'autoscaling/v2',
    );
    assert.equal((v2['spec'] as { metrics: unknown[] }).metrics.length, 1, text);
    assert.equal(v2.metadata.annotations, undefined);
  }
});

test('jobs and replication controllers leave their dependents, as they always did', () => {
  const policyOf = (group: string, resource: string): string =>
    dependentsPolicy(builtinResource({ group, version: 'v1', resource })!);
  assert.equal(policyOf('batch', 'jobs'), 'orphan');
  assert.equal(policyOf('batch', 'cronjobs'), 'delete');
  assert.equal(policyOf('', 'replicationcontrollers'), 'orphan');
  assert.equal(policyOf('', 'events'), 'unsupported');
});

test('a pod that runs nowhere ends at once', () => {
  const spec = { nodeName: 'n', terminationGracePeriodSeconds: 30 };
  assert.equal(podGracePeriodSeconds(object('v1', 'Pod', { spec }), undefined), 30);
  assert.equal(podGracePeriodSeconds(object('v1', 'Pod', { spec }), 5), 5);
  assert.equal(podGracePeriodSeconds(object('v1', 'Pod', { spec }), -5), 1);
  assert.equal(podGracePeriodSeconds(object('v1', 'Pod', { spec: { ...spec, nodeName: '' } }), 5), 0);
  assert.equal(podGracePeriodSeconds(object('v1', 'Pod', { spec, status: { phase: 'Failed' } }), undefined), 0);
});

const everyResource: readonly BuiltinResource[] = builtinGroups()
  .flatMap(({ versions }) => versions.flatMap(({ resources }) => resources))
  .filter(({ storage }) => storage !== undefined);

test('preparation takes whatever an object of any kind has or has not, and leaves the old one alone', () => {
  const random = seededRandom(11);
  for (const resource of everyResource) {
    const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
    const schema = schemaOf(apiVersion, resource.kind)!;
    const strategy = builtinStrategy(resource, now);
    const any = (): KubeObject => {
      const made = withNulls(randomObject(schema, random), random) as KubeObject;
      return Object.assign(made, { apiVersion, kind: resource.kind, metadata: made.metadata ?? {} });
    };
    for (let i = 0; i < 3; i++) {
      const old = any();
      applyDefaults(old);
      strategy.prepareForCreate(old);
      const before = JSON.stringify(old);
      for (const subresource of [
        '',
        'status',
        'scale',
        'approval',
        'finalize',
        'resize',
        'ephemeralcontainers',
        '__proto__',
      ]) {
        const changed = any();
        strategy.applyDefaults(changed);
        strategy.prepareForUpdate(changed, old, subresource);
        assert.equal(JSON.stringify(old), before, `${resource.name}/${subresource}`);
        assert.ok(Array.isArray(strategy.resetFields(subresource)));
      }
    }
  }
});
