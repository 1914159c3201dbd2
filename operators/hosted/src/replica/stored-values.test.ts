import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeProtobuf } from '@hangar/api';
import { asJson } from './stored-values.ts';

const object = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'a', namespace: 'default', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' },
  data: { k: 'v' },
};

test('values of an API server that stores protobuf become the JSON that a tenant stores', () => {
  const value = asJson('configmaps/default/a', encodeProtobuf(object));
  assert.equal(Buffer.from(value).toString(), JSON.stringify(object));
});

test('JSON is not changed', () => {
  const value = Buffer.from(`${JSON.stringify(object)}\n`);
  assert.equal(asJson('configmaps/default/a', value), value);
});

test('an unknown kind is an error that has the key', () => {
  const value = Buffer.concat([Buffer.from('k8s\0'), Buffer.from('0a060a0176120158', 'hex')]);
  assert.throws(() => asJson('others/a', value), /"others\/a"/);
});
