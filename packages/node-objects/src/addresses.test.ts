import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nthAddress } from './addresses.ts';
import { dnsAddress } from './network.ts';

test('an address of a network is computed for both families', () => {
  assert.equal(nthAddress('10.96.0.0/12', 1), '10.96.0.1');
  assert.equal(nthAddress('10.96.0.128/25', 10), '10.96.0.138');
  assert.equal(nthAddress('10.96.0.7/24', 1), '10.96.0.1');
  assert.equal(nthAddress('10.96.0.0/16', 300), '10.96.1.44');
  assert.equal(nthAddress('fd00:1::/112', 10), 'fd00:1::a');
  assert.equal(nthAddress('fd00:0:0:0:0:0:0:100/120', 1), 'fd00::101');
  for (const cidr of ['', '10.96.0.0', 'a/8', '10.96.0.0/x', '10.96.0.0/33', 'fd00::/129']) {
    assert.throws(() => nthAddress(cidr, 1), { code: 'InvalidNetwork' }, cidr);
  }
});

test('the DNS service has the tenth address of the service network', () => {
  const first = (...serviceCidrs: string[]): string => dnsAddress({ serviceCidrs });
  assert.equal(first('10.96.0.0/12', 'fd00::/112'), '10.96.0.10');
  assert.equal(first('10.0.0.0/24'), '10.0.0.10');
  assert.equal(first('192.168.255.0/24'), '192.168.255.10');
  assert.equal(first('fd00:1::/112'), 'fd00:1::a');
});
