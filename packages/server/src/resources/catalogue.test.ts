import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Catalogue, compareVersionNames } from './catalogue.ts';

test('versions are in the order of Kubernetes: stable ones first, the newest of them before', () => {
  const ordered = [
    'v10',
    'v2',
    'v1',
    'v11beta2',
    'v10beta3',
    'v3beta1',
    'v12alpha1',
    'v11alpha2',
    'foo1',
    'foo10',
    'v0',
    'v01',
  ];
  const shuffled = ordered.toReversed();
  assert.deepEqual(
    shuffled.toSorted((a, b) => compareVersionNames(b, a)),
    ordered,
  );
});

test('strangers’ names find nothing, and are not kept', () => {
  const catalogue = new Catalogue();
  for (const name of ['__proto__', 'constructor', 'toString', '', 'Pods', 'pods/', '../pods']) {
    assert.equal(catalogue.find({ group: '', version: 'v1', resource: name }), undefined, name);
    assert.equal(catalogue.find({ group: name, version: 'v1', resource: 'pods' })?.group ?? '', '', name);
    if (name !== '') assert.equal(catalogue.find({ group: '', version: name, resource: 'pods' }), undefined, name);
    catalogue.remove(name);
  }
  assert.equal(catalogue.generation, 0, 'nothing changed');
});

test('a built-in resource is one object, whoever asks', () => {
  const pods = { group: '', version: 'v1', resource: 'pods' };
  assert.equal(new Catalogue().find(pods), new Catalogue().find(pods));
});
