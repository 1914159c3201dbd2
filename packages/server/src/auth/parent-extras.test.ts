import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseParent, withoutParent, withParent } from './parent-extras.ts';
import type { User } from './user.ts';

const user = (extra: User['extra']): User => ({ name: 'kim', uid: '', groups: [], extra });
const parent = { apiGroup: 'resourcemanager.miloapis.com', type: 'Project', name: 'shop' };
const forged = { 'iam.miloapis.com/parent-name': ['lab'], 'IAM.miloapis.com/Parent-Other': ['x'], scopes: ['a'] };

test('extras of a parent that a client brings are removed, and others stay', () => {
  assert.deepEqual(withoutParent(user(forged)).extra, { scopes: ['a'] });
  const plain = user({ 'iam.miloapis.com/par': ['b'] });
  assert.equal(withoutParent(plain), plain);
});

test('the extras of the parent replace those of the client', () => {
  assert.deepEqual(withParent(user(forged), parent).extra, {
    scopes: ['a'],
    'iam.miloapis.com/parent-api-group': ['resourcemanager.miloapis.com'],
    'iam.miloapis.com/parent-type': ['Project'],
    'iam.miloapis.com/parent-name': ['shop'],
  });
});

test('a user with such an extra cannot be impersonated', () => {
  assert.throws(() => refuseParent(user(forged)), { code: 'Forbidden', message: /"iam.miloapis.com\/parent-name"/ });
  refuseParent(user({ scopes: ['a'] }));
});
