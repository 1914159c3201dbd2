import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cpuTime } from '@hangar/core/testing';
import type { JsonObject, KubeObject } from '../../object.ts';
import { fieldErrorText } from '../../status/field-error.ts';
import { otherValidations } from './index.ts';

const texts = (key: string, object: JsonObject): string[] =>
  otherValidations[key]!.create({ metadata: { name: 'x' }, ...object } as KubeObject).map(fieldErrorText);
const changes = (key: string, object: JsonObject, old: JsonObject, subresource = ''): string[] =>
  otherValidations[key]!.update(
    { metadata: { name: 'x' }, ...object } as KubeObject,
    { metadata: { name: 'x' }, ...old } as KubeObject,
    subresource,
  ).map(fieldErrorText);

describe('configuration', () => {
  test('a key in both bags of a ConfigMap is refused', () => {
    assert.deepEqual(texts('v1/ConfigMap', { data: { a: '' }, binaryData: { a: '' } }), [
      'data[a]: Invalid value: "a": duplicate of key present in binaryData',
    ]);
  });

  test('data over a mebibyte is refused, counted in bytes', () => {
    assert.deepEqual(texts('v1/ConfigMap', { data: { a: 'é'.repeat(512 * 1024) } }), []);
    assert.deepEqual(texts('v1/ConfigMap', { data: { a: `${'é'.repeat(512 * 1024)}x` } }), [
      '[]: Too long: may not be more than 1048576 bytes',
    ]);
  });

  test('keys that JavaScript objects have of themselves are ordinary', () => {
    const data = JSON.parse('{"__proto__": "a", "constructor": "b", "toString": "c"}') as JsonObject;
    assert.deepEqual(texts('v1/ConfigMap', { data }), []);
    assert.deepEqual(texts('v1/Secret', { type: 'constructor', data: {} }), []);
    assert.deepEqual(texts('v1/ResourceQuota', { spec: { hard: { ['__proto__x']: '1' } } }).length > 0, true);
  });

  test('what is immutable stays so', () => {
    assert.deepEqual(changes('v1/Secret', { data: { a: 'AA==' } }, { immutable: true, data: {} }), [
      'immutable: Forbidden: field is immutable when `immutable` is set',
      'data: Forbidden: field is immutable when `immutable` is set',
    ]);
  });
});

describe('services', () => {
  const spec = {
    type: 'ClusterIP',
    sessionAffinity: 'None',
    internalTrafficPolicy: 'Cluster',
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1'],
    ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
  };

  test('an address is not given back while the service lives', () => {
    const now = { ...spec, clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2'] };
    assert.deepEqual(changes('v1/Service', { spec: now }, { spec }), [
      'spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set',
    ]);
  });

  test('a source range that is stored stays, a new one is read strictly', () => {
    const balanced = {
      ...spec,
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Cluster',
      allocateLoadBalancerNodePorts: true,
      loadBalancerSourceRanges: ['10.0.0.1/8'],
    };
    assert.deepEqual(changes('v1/Service', { spec: balanced }, { spec: balanced }), []);
    assert.deepEqual(changes('v1/Service', { spec: balanced }, { spec }), [
      'spec.LoadBalancerSourceRanges[0]: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length',
    ]);
  });

  test('warnings tell of addresses in an odd form', () => {
    const odd = { ...spec, clusterIP: '2001:DB8::1', clusterIPs: ['2001:DB8::1'] };
    const object = { metadata: {}, spec: odd } as unknown as KubeObject;
    assert.deepEqual(otherValidations['v1/Service']!.warnings!(object, undefined), [
      'spec.clusterIPs[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
    ]);
  });
});

test('the role of a binding cannot be exchanged', () => {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'a' };
  const key = 'rbac.authorization.k8s.io/v1/ClusterRoleBinding';
  assert.deepEqual(changes(key, { roleRef: { ...roleRef, name: 'b' } }, { roleRef }), [
    'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"ClusterRole","Name":"b"}: cannot change roleRef',
  ]);
});

test('a namespace is Active until it is deleted', () => {
  assert.deepEqual(changes('v1/Namespace', { status: { phase: 'Terminating' } }, {}, 'status'), [
    'status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
  ]);
});

test('hostile lists and texts cost no more than their length', () => {
  const many = 200_000;
  const takenMs = cpuTime();
  const repeated = (item: unknown): unknown[] => Array.from({ length: many }, () => item);
  texts('certificates.k8s.io/v1/CertificateSigningRequest', {
    spec: {
      request: Buffer.from('-----BEGIN CERTIFICATE REQUEST-----\n'.repeat(30_000)).toString('base64'),
      usages: repeated('any'),
    },
    status: { conditions: repeated({ type: 'Approved', status: 'True' }) },
  });
  texts('v1/ResourceQuota', { spec: { hard: { services: '1' }, scopes: repeated('BestEffort') } });
  texts('storage.k8s.io/v1/StorageClass', { provisioner: 'a', allowedTopologies: repeated({}).slice(0, 2000) });
  texts('v1/Service', { spec: { ipFamilies: repeated('IPv4'), externalIPs: repeated('x') } });
  assert.ok(texts('v1/Service', { spec: { clusterIPs: repeated('x') } }).length > many);
  assert.ok(takenMs() < 20_000);
});

test('every kind answers for an object that has nothing but its name', () => {
  for (const [key, validation] of Object.entries(otherValidations)) {
    const object = { metadata: { name: 'x' } } as KubeObject;
    assert.ok(Array.isArray(validation.create(object)), key);
    for (const subresource of ['', 'status', 'approval', 'finalize']) {
      assert.ok(Array.isArray(validation.update(object, object, subresource)), `${key} ${subresource}`);
    }
    validation.warnings?.(object, object);
  }
});
