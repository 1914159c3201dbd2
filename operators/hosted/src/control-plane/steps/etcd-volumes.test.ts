import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastingCapacity } from './etcd-volumes.ts';

test('the capacity is that of the smallest volume, and does not follow the volume of a replaced member', () => {
  assert.equal(lastingCapacity({ smallest: '8Gi', size: '16Gi' }), '8Gi');
  assert.equal(lastingCapacity({ smallest: '8Gi', size: '16Gi', known: '8Gi' }), '8Gi');
  assert.equal(lastingCapacity({ smallest: '16Gi', size: '16Gi', known: '8Gi' }), '16Gi');
  // The new claim of a replaced member has the size of the template, until it grows.
  assert.equal(lastingCapacity({ smallest: '8Gi', size: '16Gi', known: '16Gi' }), '16Gi');
  assert.equal(lastingCapacity({ smallest: '8Gi', size: '32Gi', known: '16Gi' }), '16Gi');
  // The known size is not one of this spec.
  assert.equal(lastingCapacity({ smallest: '8Gi', size: '12Gi', known: '16Gi' }), '8Gi');
});
