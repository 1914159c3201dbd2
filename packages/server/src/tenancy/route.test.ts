import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hostName, routeOf } from './route.ts';

describe('the way to a tenant', () => {
  const long = '/apis/resourcemanager.miloapis.com/v1alpha1/projects';
  const ways: readonly [target: string, path: string, rest: string][] = [
    ['/clusters/demo/control-plane', 'demo', '/'],
    ['/clusters/demo/control-plane/', 'demo', '/'],
    ['/clusters/demo/control-plane?timeout=1s', 'demo', '/?timeout=1s'],
    ['/clusters/demo/control-plane/api/v1/pods?watch=1', 'demo', '/api/v1/pods?watch=1'],
    ['/projects/demo/control-plane/apis', 'demo', '/apis'],
    [`${long}/demo/control-plane/readyz`, 'demo', '/readyz'],
    ['/clusters/*/control-plane/api/v1/pods', '*', '/api/v1/pods'],
    ['/clusters/%2A/control-plane/api/v1/pods', '*', '/api/v1/pods'],
    ['/clusters/control-plane/control-plane/api', 'control-plane', '/api'],
    ['/clusters/a/control-plane/clusters/b/control-plane/api', 'a', '/clusters/b/control-plane/api'],
    // Invalid names: they match no tenant, also after decoding.
    ['/clusters/%64emo/control-plane/api', '%64emo', '/api'],
    ['/clusters/../control-plane/api', '..', '/api'],
    ['/clusters//control-plane/api', '', '/api'],
  ];
  for (const [target, path, rest] of ways) {
    test(target, () => assert.deepEqual(routeOf(target), { path, target: rest }));
  }

  const others = [
    '/',
    '/api/v1/namespaces/clusters/pods',
    '/clusters',
    '/clusters/demo',
    '/clusters/demo/control-planes/api',
    '/clusters/demo/control-plane%2fapi',
    '/clusters/demo/x/control-plane/api',
    '/clusters/demo?/control-plane/api',
    '//clusters/demo/control-plane/api',
    '/x/clusters/demo/control-plane/api',
    '/Clusters/demo/control-plane/api',
    `${long}/demo`,
    `${long}/demo/status`,
  ];
  for (const target of others) {
    test(`${target} is no such way`, () => assert.equal(routeOf(target), undefined));
  }
});

test('a host name has no port and no capitals', () => {
  assert.equal(hostName('Demo.Example.com:6443'), 'demo.example.com');
  assert.equal(hostName('demo.example.com'), 'demo.example.com');
  assert.equal(hostName('[::1]:6443'), '[::1]');
  assert.equal(hostName(''), undefined);
  assert.equal(hostName(undefined), undefined);
});
