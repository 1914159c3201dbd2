import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPublicAddress } from './addresses.ts';

test('loopback addresses and names are not advertised', () => {
  assert.deepEqual(['192.0.2.1', '2001:db8::1', '127.0.0.1', '::1', 'a.example.com'].map(isPublicAddress), [
    true,
    true,
    false,
    false,
    false,
  ]);
});
