import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@hangar/api';
import { bodyLengthMax, documentOf, labelsLengthMax } from './document.ts';
import { indexTerms } from './index-terms.ts';
import { termLengthMax, termsOf } from './terms.ts';

const source = { cluster: 'red', group: '', resource: 'configmaps', kind: 'ConfigMap' };
const metadata = { namespace: 'default', name: 'a', uid: '1', resourceVersion: '2' };

test('a document has annotations, keys that users choose, and values of all fields, spec before status', () => {
  const { body, labels } = documentOf(source, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      ...metadata,
      labels: { app: 'web' },
      annotations: { note: 'by kim' },
      managedFields: [{ manager: 'hidden' }],
    },
    status: { phase: 'Ready' },
    data: { 'app.conf': 'port=80\nhost=x' },
    binaryData: { blob: 'AAAA' },
    list: [1, true, null, { deep: ['x'] }],
  } as unknown as JsonObject);
  assert.equal(labels, 'app=web');
  assert.deepEqual(body.split('\n'), ['note by kim', 'app.conf port=80 host=x', '1', 'true', 'x', 'Ready']);
});

test('a Secret has only metadata and type', () => {
  const secret = { ...source, resource: 'secrets', kind: 'Secret' };
  const object = { metadata, type: 'Opaque', data: { a: 'hidden' }, stringData: { b: 'hidden' }, other: 'hidden' };
  assert.equal(documentOf(secret, object as unknown as JsonObject).body, 'Opaque');
});

test('the text of a hostile object is bounded', () => {
  let deep: unknown = 'bottom';
  for (let at = 0; at < 10_000; at++) deep = { x: deep };
  const labels = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`label-${at}`, 'v'.repeat(63)]));
  const data = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`key-${at}`, 'word '.repeat(50)]));
  const document = documentOf(source, { metadata: { ...metadata, labels }, deep, data } as unknown as JsonObject);
  assert.ok(document.body.length <= bodyLengthMax);
  assert.ok(document.labels.length <= labelsLengthMax);
  assert.ok(indexTerms(document).length < 100_000);
  assert.ok(termsOf('x'.repeat(10_000))[0]!.length === termLengthMax);
});

test('rules of roles that name objects are grants, and too many of them are one for all', () => {
  const role = { cluster: 'red', group: 'rbac.authorization.k8s.io', resource: 'roles', kind: 'Role' };
  const rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['get'], resourceNames: ['a'] };
  const grantsOf = (rules: unknown): unknown => documentOf(role, { metadata, rules } as unknown as JsonObject).grants;
  assert.deepEqual(grantsOf([rule, { ...rule, resourceNames: undefined }]), [
    { group: '', resource: 'configmaps', name: 'a' },
  ]);
  const many = { ...rule, resourceNames: Array.from({ length: 2_000 }, (_, at) => `n${at}`) };
  assert.deepEqual(grantsOf([many]), [{ group: '*', resource: '*', name: '*' }]);
  assert.equal(documentOf(source, { metadata, rules: [rule] } as unknown as JsonObject).grants, undefined);
});
