import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '@hangar/client/kinds/core-v1';
import { expandAddresses, LoadBalancers } from './load-balancers.ts';

const service = (name: string, port: number, more: NonNullable<Service['spec']> = {}, ip?: string): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'team', name },
  spec: { type: 'LoadBalancer', clusterIP: '10.96.0.5', ports: [{ port }], ...more },
  ...(ip === undefined ? {} : { status: { loadBalancer: { ingress: [{ ip }] } } }),
});

test('a pool has single addresses and networks', () => {
  assert.deepEqual(expandAddresses(['10.77.3.1', '10.99.0.7/30', 'fd00::1']), [
    '10.77.3.1',
    '10.99.0.4',
    '10.99.0.5',
    '10.99.0.6',
    '10.99.0.7',
    'fd00::1',
  ]);
  for (const invalid of ['10.0.0.0/8', '10.0.0/24', '10.0.0.256/24', '10.0.0.0/33', '10.0.0.0/x'])
    assert.throws(() => expandAddresses([invalid]), TypeError, invalid);
});

test('Services with different ports share an address, and Services with the same port do not', () => {
  const pool = new LoadBalancers(['10.99.0.1', '10.99.0.2']);
  const [a, b, c, d] = [service('a', 6443), service('b', 443), service('c', 6443), service('d', 6443)];
  assert.deepEqual(pool.assign([a!, b!, c!, d!]), [d]);
  assert.deepEqual(
    [a, b, c, d].map((one) => pool.addressOf(one!)),
    ['10.99.0.1', '10.99.0.1', '10.99.0.2', undefined],
  );
  // The failure is reported once, and a freed port is used.
  assert.deepEqual(pool.assign([a!, b!, c!, d!]), []);
  assert.deepEqual(pool.assign([b!, c!, d!]), []);
  assert.equal(pool.addressOf(d!), '10.99.0.1');
  assert.equal(pool.addressOf(a!), undefined);
});

test('the status and spec.loadBalancerIP decide the address, and other classes have none', () => {
  const pool = new LoadBalancers(['10.99.0.1', '10.99.0.2']);
  const first = service('first', 80);
  const kept = service('kept', 80, {}, '10.99.0.1');
  const wanted = service('wanted', 443, { loadBalancerIP: '10.99.0.2' });
  const outside = service('outside', 444, { loadBalancerIP: '192.0.2.1' });
  const other = service('other', 445, { loadBalancerClass: 'example.com/other' });
  const plain = service('plain', 446, { type: 'ClusterIP' });
  assert.deepEqual(pool.assign([first, kept, wanted, outside, other, plain]), [outside]);
  assert.deepEqual(
    [first, kept, wanted, outside, other, plain].map((one) => pool.addressOf(one)),
    ['10.99.0.2', '10.99.0.1', '10.99.0.2', undefined, undefined, undefined],
  );
});
