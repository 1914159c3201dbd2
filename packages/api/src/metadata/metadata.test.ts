import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import type { ObjectMeta, OwnerReference } from '../object.ts';
import { fieldErrorText } from '../status/field-error.ts';
import { nameIsSubdomain } from '../validation/formats.ts';
import { generateName } from './generate-name.ts';
import { fieldManagerErrors } from './managed-fields.ts';
import { carryOverMetadata, validateMetadata, validateMetadataUpdate } from './validate.ts';

const rules = { namespaced: true, validateName: nameIsSubdomain, standardFinalizers: true };
const faults = (meta: ObjectMeta, more = {}): string[] =>
  validateMetadata({ name: 'a', namespace: 'b', ...meta }, { ...rules, ...more }).map(fieldErrorText);

const cases: readonly [name: string, meta: ObjectMeta, ...expected: RegExp[]][] = [
  [
    'good metadata has no faults',
    { labels: { a: 'b' }, annotations: { 'X.Y/z': '\n' }, finalizers: ['orphan', 'x/y'] },
  ],
  ['a name is needed', { name: '' }, /^metadata\.name: Required value: name or generateName is required$/],
  ['a name has a form', { name: 'A' }, /^metadata\.name: Invalid value: "A": a lowercase RFC 1123 subdomain/],
  ['a prefix has a form', { generateName: 'Ab-' }, /^metadata\.generateName: Invalid value: "Ab-": a lowercase/],
  ['a namespace is needed', { namespace: '' }, /^metadata\.namespace: Required value$/],
  [
    'a generation is not negative',
    { generation: -1 },
    /^metadata\.generation: Invalid value: -1: must be greater than/,
  ],
  [
    'labels have a form',
    { labels: { 'a b': '-' } },
    /^metadata\.labels: Invalid value: "a b": name part/,
    /"-": a valid label/,
  ],
  [
    'finalizers have a domain or are known',
    { finalizers: ['x'] },
    /^metadata\.finalizers\[0\]: .*neither a standard finalizer/,
  ],
  [
    'dependents are orphaned or deleted',
    { finalizers: ['orphan', 'foregroundDeletion'] },
    /^metadata\.finalizers: Invalid value: \["orphan","foregroundDeletion"\]: finalizer orphan and foregroundDeletion cannot be both set$/,
  ],
  [
    'entries of managedFields have a form',
    { managedFields: [{ fieldsType: 'FieldsV2', manager: 'a\u0007' }] },
    /^metadata\.managedFields\[0\]\.operation: Invalid value: "": must be `Apply` or `Update`$/,
    /^metadata\.managedFields\[0\]\.fieldsType: Invalid value: "FieldsV2": must be `FieldsV1`$/,
    /^metadata\.managedFields\[0\]\.manager: Invalid value: "a\\a": invalid character U\+0007 \(at position 1\)$/,
  ],
];

for (const [name, meta, ...expected] of cases) {
  test(name, () => {
    const found = faults(meta);
    assert.equal(found.length, expected.length, found.join('\n'));
    for (const [at, pattern] of expected.entries()) assert.match(found[at]!, pattern);
  });
}

test('cluster-scoped kinds have no namespace', () => {
  assert.deepEqual(faults({}, { namespaced: false }), ['metadata.namespace: Forbidden: not allowed on this type']);
});

test('finalizers of custom resources need no domain', () => {
  assert.deepEqual(faults({ finalizers: ['x'] }, { standardFinalizers: false }), []);
});

test('annotations share 256 KiB', () => {
  assert.deepEqual(faults({ annotations: { key: 'x'.repeat(256 * 1024 - 3) } }), []);
  assert.deepEqual(faults({ annotations: { key: 'x'.repeat(256 * 1024 - 2) } }), [
    'metadata.annotations: Too long: may not be more than 262144 bytes',
  ]);
});

test('thousands of controllers give few faults', () => {
  const owner: OwnerReference = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', controller: true };
  const references = Array.from({ length: 5000 }, (_, at) => ({ ...owner, name: `p${at}` }));
  const found = faults({ ownerReferences: references });
  assert.equal(found.length, 10);
  assert.match(
    found[0]!,
    /Only one reference can have Controller set to true\. Found "true" in references for Pod\/p0 and Pod\/p1$/,
  );
});

const old: ObjectMeta = {
  name: 'a',
  namespace: 'b',
  uid: 'u',
  resourceVersion: '1',
  generation: 2,
  creationTimestamp: '2026-01-01T00:00:00Z',
};
const changeFaults = (change: ObjectMeta, before: ObjectMeta = old): string[] =>
  validateMetadataUpdate({ ...before, ...change }, before, { namespaced: true }).map(fieldErrorText);

test('what may not change is named', () => {
  assert.deepEqual(changeFaults({}), []);
  assert.deepEqual(changeFaults({ name: 'c', namespace: 'd', uid: 'v', generation: 1, resourceVersion: '' }), [
    'metadata.resourceVersion: Invalid value: "": must be specified for an update',
    'metadata.generation: Invalid value: 1: must not be decremented',
    'metadata.name: Invalid value: "c": field is immutable',
    'metadata.namespace: Invalid value: "d": field is immutable',
    'metadata.uid: Invalid value: "v": field is immutable',
  ]);
  assert.deepEqual(changeFaults({ deletionTimestamp: '2026-01-02T00:00:00Z', deletionGracePeriodSeconds: 0 }), [
    'metadata.deletionTimestamp: Invalid value: "2026-01-02T00:00:00Z": field is immutable',
    'metadata.deletionGracePeriodSeconds: Invalid value: 0: field is immutable',
  ]);
});

test('what is being deleted gets no new finalizers', () => {
  const dying = { ...old, deletionTimestamp: '2026-01-02T00:00:00Z', finalizers: ['x/a', 'x/b'] };
  assert.deepEqual(changeFaults({ finalizers: ['x/a'] }, dying), []);
  assert.deepEqual(changeFaults({ finalizers: ['x/d', 'x/c', 'x/a'] }, dying), [
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/c", "x/d"}',
  ]);
});

test('an update keeps what only the server sets', () => {
  const before = { ...old, deletionTimestamp: '2026-01-02T00:00:00Z', deletionGracePeriodSeconds: 3 };
  const meta: ObjectMeta = { name: 'a', generation: 9, creationTimestamp: null };
  carryOverMetadata(meta, before);
  const { namespace: _, resourceVersion: __, ...kept } = before;
  assert.deepEqual(meta, kept);
});

test('generated names are short and of the alphabet', () => {
  const random = seededRandom(1);
  assert.match(generateName('web-', random), /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  assert.equal(generateName('x'.repeat(100), random).length, 63);
  assert.equal(new Set(Array.from({ length: 100 }, () => generateName('', random))).size, 100);
});

test('the name of a field manager is short and printable', () => {
  assert.deepEqual(fieldManagerErrors('kubectl-é 😀', 'fieldManager'), []);
  const found = fieldManagerErrors(`ü\u200b${'x'.repeat(1_000_000)}\n`, 'fieldManager').map(fieldErrorText);
  assert.equal(found.length, 2);
  assert.equal(found[0], 'fieldManager: Too long: may not be more than 128 bytes');
  assert.match(found[1]!, /invalid character U\+200B \(at position 2\)$/);
});
