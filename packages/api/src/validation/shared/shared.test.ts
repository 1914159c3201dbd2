import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fieldErrorText } from '../../status/field-error.ts';
import { canonicalCidrErrors, formatCidr, isStrictSubset, parseCidr } from './cidr.ts';
import { equalValues } from './equal.ts';
import { canonicalIpErrors, formatIp, isIpv4, parseIp } from './ip.ts';
import { labelSelectorErrors } from './labels.ts';
import { isWhole, millisOf, unitsOf } from './quantities.ts';

describe('addresses', () => {
  test('are read with leading zeros, and written canonically', () => {
    const forms: Readonly<Record<string, string>> = {
      '010.001.1.1': '10.1.1.1',
      '2001:DB8:0:0:0:0:0:1': '2001:db8::1',
      '::ffff:1.2.3.4': '1.2.3.4',
      '::': '::',
      '1:0:0:2:0:0:0:3': '1:0:0:2::3',
      '1::2:0:0:3': '1::2:0:0:3',
    };
    for (const [text, canonical] of Object.entries(forms)) assert.equal(formatIp(parseIp(text)!), canonical, text);
  });

  test('have exactly four or eight parts, and no zone', () => {
    for (const text of [
      '',
      '1.2.3',
      '1.2.3.256',
      '1.2.3.4.5',
      'fe80::1%eth0',
      '1:2',
      ':::',
      '1::2::3',
      '12345::',
      'g::',
    ]) {
      assert.equal(parseIp(text), undefined, text);
    }
    assert.equal(isIpv4(parseIp('::ffff:1.2.3.4')!), true);
    assert.equal(isIpv4(parseIp('::1.2.3.4')!), false);
  });

  test('in new fields must be canonical', () => {
    assert.deepEqual(canonicalIpErrors('ip', '2001:DB8::1').map(fieldErrorText), [
      'ip: Invalid value: "2001:DB8::1": must be in canonical form ("2001:db8::1")',
    ]);
    assert.deepEqual(canonicalCidrErrors('cidr', '10.0.0.0/08').map(fieldErrorText), [
      'cidr: Invalid value: "10.0.0.0/08": must not have leading 0s in IP or prefix length',
    ]);
  });
});

test('a block is part of another when it is smaller and inside', () => {
  const inside = (inner: string, outer: string): boolean => isStrictSubset(parseCidr(inner)!, parseCidr(outer)!);
  assert.equal(inside('10.1.0.0/16', '10.0.0.0/8'), true);
  assert.equal(inside('10.0.0.0/8', '10.0.0.0/8'), false);
  assert.equal(inside('11.0.0.0/16', '10.0.0.0/8'), false);
  assert.equal(inside('2001:db8::/33', '2001:db8::/32'), true);
  assert.equal(inside('10.0.0.0/8', '::/0'), false);
  assert.equal(formatCidr(parseCidr('10.1.2.3/20')!), '10.1.0.0/20');
});

test('quantities round away from zero', () => {
  assert.equal(millisOf('1u'), 1n);
  assert.equal(unitsOf('-1500m'), -2n);
  assert.equal(isWhole('2k'), true);
  assert.equal(isWhole('1500m'), false);
});

test('absent, null and empty are equal, false and zero are not', () => {
  assert.equal(equalValues({ a: [], b: null }, {}), true);
  assert.equal(equalValues({ a: 0 }, {}), false);
  assert.equal(equalValues(JSON.parse('{"__proto__": 1}'), {}), false);
});

test('a selector tells of every part that is wrong', () => {
  const selector = { matchLabels: { 'a/b/c': 'x' }, matchExpressions: [{ key: '', operator: 'Near', values: ['-'] }] };
  const paths = labelSelectorErrors('s', selector).map(({ path }) => path);
  assert.deepEqual(paths, [
    's.matchLabels',
    's.matchExpressions[0].operator',
    's.matchExpressions[0].key',
    's.matchExpressions[0].key',
    's.matchExpressions[0].values[0]',
  ]);
});
