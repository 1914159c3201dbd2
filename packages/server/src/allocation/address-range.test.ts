import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { AddressRange, formatAddress, parseAddress } from './address-range.ts';

const range = (cidr: string): AddressRange => AddressRange.parse(cidr)!;
const has = (cidr: string, address: string): boolean => range(cidr).contains(parseAddress(address)!);

test('a range has neither its network address nor, for IPv4, the broadcast address', () => {
  assert.deepEqual(
    ['10.0.0.0', '10.0.0.1', '10.0.0.254', '10.0.0.255', '10.0.1.1'].map((one) => has('10.0.0.0/24', one)),
    [false, true, true, false, false],
  );
  assert.deepEqual(
    ['fd00::', 'fd00::1', 'fd00::ffff', 'fd00::1:0', '10.0.0.1'].map((one) => has('fd00::/112', one)),
    [false, true, true, false, false],
  );
});

test('addresses are picked above the static band first, and each once', () => {
  const all = [...range('10.0.0.0/24').candidates(seededRandom(1))];
  assert.equal(all.length, 254);
  assert.equal(new Set(all).size, 254);
  const last = (address: string): number => Number(address.split('.')[3]);
  assert.ok(all.slice(0, 238).every((address) => last(address) >= 17));
  assert.ok(all.slice(238).every((address) => last(address) <= 16));
});

test('small ranges have no static band, and the smallest no addresses', () => {
  assert.equal([...range('10.0.0.0/28').candidates(seededRandom(1))].length, 14);
  assert.deepEqual([...range('10.0.0.0/32').candidates(seededRandom(1))], []);
  assert.deepEqual([...range('10.0.0.0/31').candidates(seededRandom(1))], []);
});

test('a large IPv6 range is not walked to pick an address', () => {
  const [first] = range('fd00:1::/64').candidates(seededRandom(7));
  assert.match(first!, /^fd00:1::/);
});

test('what is no CIDR is none', () => {
  for (const text of ['', '10.0.0.0', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/x', '/24', 'fd00::/129']) {
    assert.equal(AddressRange.parse(text), undefined, text);
  }
});

test('addresses are named in their canonical form', () => {
  const canonical = (text: string): string => {
    const { value, family } = parseAddress(text)!;
    return formatAddress(value, family);
  };
  assert.equal(canonical('FD00:0:0::0001'), 'fd00::1');
  assert.equal(canonical('10.0.0.1'), '10.0.0.1');
});
