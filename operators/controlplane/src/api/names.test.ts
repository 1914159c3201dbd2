import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  clusterPathOf,
  kubeconfigSecretName,
  labelValue,
  managementNamespace,
  registrationSecretName,
  routeName,
} from './names.ts';

const namespaceName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const long = 'x'.repeat(253);

test('a management namespace is always one that the server takes, and no two control planes share one', () => {
  assert.equal(managementNamespace('a'), 'kplane-cp-a');
  assert.equal(managementNamespace('x'.repeat(53)), `kplane-cp-${'x'.repeat(53)}`);
  // First 40 characters, and 8 of the hash of `kplane-cp-` and the name: the same as providers of clusters look for.
  assert.match(managementNamespace('x'.repeat(54)), /^kplane-cp-x{30}-[0-9a-f]{8}$/);
  const odd = ['a.b', 'a-b', `${'a'.repeat(29)}.${'b'.repeat(60)}`, `${'a'.repeat(29)}-${'b'.repeat(60)}`, long];
  const all = odd.map(managementNamespace);
  assert.equal(new Set(all).size, all.length);
  for (const one of all) assert.ok(namespaceName.test(one) && one.length <= 63, one);
});

test('Secrets have names that the server takes', () => {
  assert.equal(kubeconfigSecretName('a'), 'controlplane-a-kubeconfig');
  assert.equal(registrationSecretName('a'), 'registration-a-kubeconfig');
  for (const one of [kubeconfigSecretName(long), registrationSecretName(long)]) assert.ok(one.length <= 253, one);
  assert.notEqual(kubeconfigSecretName(`${long.slice(1)}a`), kubeconfigSecretName(`${long.slice(1)}b`));
});

test('a route has a name that the server takes', () => {
  assert.equal(routeName('a.b'), 'controlplane-a.b');
  assert.ok(routeName(long).length <= 253);
  assert.notEqual(routeName(`${long.slice(1)}a`), routeName(`${long.slice(1)}b`));
});

test('a long name is a shorter label', () => {
  assert.equal(labelValue('a'.repeat(63)), 'a'.repeat(63));
  assert.ok(labelValue(long).length <= 63);
});

test('the path is the name unless the spec says another', () => {
  assert.equal(clusterPathOf({ metadata: { name: 'a' }, spec: {} }), 'a');
  assert.equal(clusterPathOf({ metadata: { name: 'a' }, spec: { virtual: { clusterPath: 'b' } } }), 'b');
});
