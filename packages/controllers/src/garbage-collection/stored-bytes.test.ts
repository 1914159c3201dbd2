import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mayConcern, uidOf } from './stored-bytes.ts';

const bytes = (object: object): Buffer => Buffer.from(JSON.stringify(object));

describe('the uid of stored JSON', () => {
  const table: Readonly<Record<string, [object, string | undefined]>> = {
    'of a built-in kind': [
      { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', namespace: 'default', uid: 'u', labels: {} } },
      'u',
    ],
    'of a custom resource': [
      { apiVersion: 'e.com/v1', kind: 'W', metadata: { name: 'a', generateName: 'a-', namespace: 'd', uid: 'u' } },
      'u',
    ],
    'of what is in no namespace': [{ kind: 'Node', apiVersion: 'v1', metadata: { name: 'n', uid: 'u' } }, 'u'],
    'is not taken from a label': [
      { kind: 'C', apiVersion: 'v1', metadata: { labels: { uid: 'x' }, uid: 'u' } },
      undefined,
    ],
    'is not taken from an owner': [
      { kind: 'C', apiVersion: 'v1', metadata: { name: 'a', ownerReferences: [{ uid: 'x' }], uid: 'u' } },
      undefined,
    ],
    'is not taken from a name that says so': [
      { kind: 'C', apiVersion: 'v1', metadata: { name: 'a","uid":"x', uid: 'u' } },
      undefined,
    ],
    'is not there': [{ kind: 'C', apiVersion: 'v1', metadata: { name: 'a' } }, undefined],
  };
  for (const [what, [object, uid]] of Object.entries(table)) test(what, () => assert.equal(uidOf(bytes(object)), uid));
});

test('words inside of texts are not taken for fields', () => {
  const annotations = {
    applied: JSON.stringify({ ownerReferences: [], finalizers: ['orphan', 'foregroundDeletion'] }),
  };
  assert.ok(!mayConcern(bytes({ metadata: { name: 'a', annotations } })));
  assert.ok(mayConcern(bytes({ metadata: { ownerReferences: [{}] } })));
  assert.ok(mayConcern(bytes({ metadata: { finalizers: ['orphan'] } })));
  assert.ok(mayConcern(new Uint8Array(bytes({ metadata: { finalizers: ['foregroundDeletion'] } }))));
});
