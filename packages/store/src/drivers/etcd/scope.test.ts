import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everything, prefixRange } from '../../keys.ts';
import { Scope } from './scope.ts';

const scope = new Scope('/registry/');

test('a key outside of the prefix is refused', () => {
  scope.check('/registry/a');
  for (const key of ['/registry', '/other', '/registry0'])
    assert.throws(() => scope.check(key), { code: 'InvalidKey' });
});

test('a range is cut to what is inside', () => {
  assert.deepEqual(scope.cut(everything), { start: '/registry/', end: '/registry0' });
  assert.deepEqual(scope.cut({ start: '/registry/m' }), { start: '/registry/m', end: '/registry0' });
  assert.deepEqual(scope.cut(prefixRange('/registry/pods/')), prefixRange('/registry/pods/'));
  assert.equal(scope.cut(prefixRange('/other/')), undefined);
});

test('an end before every key is nothing, not everything', () => {
  for (const end of ['', '\u0000']) assert.equal(new Scope('').cut({ start: '', end }), undefined);
  assert.deepEqual(new Scope('').cut({ start: '', end: '\u0000\u0000' }), { start: '', end: '\u0000\u0000' });
});

test('a range delete of nothing inside is left out of its transaction', () => {
  const put = { type: 'put', key: '/registry/a', value: new Uint8Array() } as const;
  const outside = { type: 'deleteRange', range: prefixRange('/other/') } as const;
  assert.deepEqual(scope.cutWrites([put, outside, { type: 'deleteRange', range: { start: '/registry/b' } }]), [
    put,
    { type: 'deleteRange', range: { start: '/registry/b', end: '/registry0' } },
  ]);
});

test('the empty prefix is all of etcd', () => {
  const all = new Scope('');
  all.check('anything');
  assert.deepEqual(all.cut(everything), everything);
});

test('a prefix that no key can have is refused', () => {
  assert.throws(() => new Scope('a\nb'), { code: 'InvalidKey' });
});
