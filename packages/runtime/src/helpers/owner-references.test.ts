import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObjectMeta } from '@hangar/api';
import { controllerOf, isControlledBy, isOwnedBy, removeOwnerReference } from './owner-references.ts';
import { controllerReference, setControllerReference, setOwnerReference } from './owner-references.ts';

const widget = (metadata: ObjectMeta) => ({ apiVersion: 'example.org/v1', kind: 'Widget', metadata });
const owner = widget({ namespace: 'work', name: 'one', uid: 'u1' });
const draft = (metadata: ObjectMeta = {}) => ({
  metadata: { namespace: 'work', name: 'child', ...metadata } as ObjectMeta,
});

test('a controller blocks the deletion of its owner, unless it says otherwise', () => {
  const object = draft();
  setControllerReference(owner, object);
  const reference = { apiVersion: 'example.org/v1', kind: 'Widget', name: 'one', uid: 'u1', controller: true };
  assert.deepEqual(object.metadata.ownerReferences, [{ ...reference, blockOwnerDeletion: true }]);
  setControllerReference(owner, object, { blockOwnerDeletion: false });
  assert.deepEqual(object.metadata.ownerReferences, [{ ...reference, blockOwnerDeletion: false }]);
});

test('what another object controls is refused, and stays as it was', () => {
  const object = draft();
  setControllerReference(owner, object);
  const other = widget({ namespace: 'work', name: 'two', uid: 'u2' });
  assert.throws(() => setControllerReference(other, object), { code: 'AlreadyOwned' });
  assert.equal(controllerOf(object)?.name, 'one');
  setOwnerReference(other, object);
  assert.equal(object.metadata.ownerReferences?.length, 2);
  assert.equal(isControlledBy(object, other), false);
  assert.equal(isOwnedBy(object, other), true);
});

test('an owner that was made anew, or is of a newer version, takes the place of the one before', () => {
  const object = draft();
  setControllerReference(owner, object);
  const again = { ...widget({ namespace: 'work', name: 'one', uid: 'u9' }), apiVersion: 'example.org/v2' };
  setControllerReference(again, object);
  assert.deepEqual(object.metadata.ownerReferences, [controllerReference(again)]);
  assert.equal(isControlledBy(object, owner), false);
  assert.equal(isControlledBy(object, again), true);
});

test('an owner of the same name in another group is another one', () => {
  const object = draft();
  setControllerReference(owner, object);
  assert.throws(() => setControllerReference({ ...owner, apiVersion: 'other.org/v1' }, object), {
    code: 'AlreadyOwned',
  });
});

test('an owner with a namespace owns nothing outside of it; one without owns anything', () => {
  assert.throws(() => setControllerReference(owner, draft({ namespace: 'elsewhere' })), { code: 'InvalidOwner' });
  assert.throws(() => setOwnerReference(owner, { metadata: { name: 'everywhere' } }), { code: 'InvalidOwner' });
  const object = draft();
  setControllerReference(widget({ name: 'wide', uid: 'u3' }), object);
  assert.equal(controllerOf(object)?.uid, 'u3');
});

test('an owner that no server has seen cannot own', () => {
  const unborn = widget({ namespace: 'work', name: 'one' });
  assert.throws(() => setControllerReference(unborn, draft()), { code: 'InvalidOwner' });
  assert.throws(() => setOwnerReference({ ...owner, kind: '' }, draft()), { code: 'InvalidOwner' });
  assert.equal(isControlledBy(draft(), unborn), false);
  assert.equal(isOwnedBy(draft(), unborn), false);
});

test('a reference is removed once, and an empty list goes with it', () => {
  const object = draft();
  assert.equal(removeOwnerReference(owner, object), false);
  setOwnerReference(owner, object);
  assert.equal(removeOwnerReference(owner, object), true);
  assert.equal('ownerReferences' in object.metadata, false);
});

test('the list of a shared object is not changed in place', () => {
  const shared = Object.freeze([controllerReference(owner)]);
  const object = draft({ ownerReferences: shared as never });
  setOwnerReference(widget({ namespace: 'work', name: 'two', uid: 'u2' }), object);
  assert.equal(shared.length, 1);
  assert.equal(object.metadata.ownerReferences?.length, 2);
});
