import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreError } from '@hangar/store';
import { statusOfStoreError } from './store-errors.ts';

test('a write for a control plane that is gone can be tried again, and says nothing about keys', () => {
  const status = statusOfStoreError(new StoreError('Fenced', 'the key "/registry/clusters/x/.hangar/tenant" is gone'));
  assert.equal(status?.status.code, 503);
  assert.equal(status.status.reason, 'ServiceUnavailable');
  assert.equal(status.status.details?.retryAfterSeconds, 1);
  assert.equal(status.status.message, 'the control plane was closed, please try again');
});
