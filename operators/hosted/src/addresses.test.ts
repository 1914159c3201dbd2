import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPublicAddress, nthAddress } from './addresses.ts';

test('an address of a network is computed for both families', () => {
  assert.equal(nthAddress('10.96.0.0/12', 1), '10.96.0.1');
  assert.equal(nthAddress('10.96.0.128/25', 10), '10.96.0.138');
  assert.equal(nthAddress('fd00:1::/112', 10), 'fd00:1::a');
  assert.equal(nthAddress('fd00:0:0:0:0:0:0:100/120', 1), 'fd00::101');
  for (const cidr of ['', '10.96.0.0', 'a/8', '10.96.0.0/x']) {
    assert.throws(() => nthAddress(cidr, 1), { code: 'InvalidNetwork' }, cidr);
  }
});

test('loopback addresses and names are not advertised', () => {
  assert.deepEqual(['192.0.2.1', '2001:db8::1', '127.0.0.1', '::1', 'a.example.com'].map(isPublicAddress), [
    true,
    true,
    false,
    false,
    false,
  ]);
});
