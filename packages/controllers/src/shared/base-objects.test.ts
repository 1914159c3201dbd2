import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Request } from '@hangar/runtime';
import { BaseObjects } from './base-objects.ts';

function subject() {
  const asked: Request[] = [];
  const ask = (request: Request): void => void asked.push(request);
  const taken = (): string[] => asked.splice(0).map(({ cluster, name }) => `${cluster}/${name}`);
  return { objects: new BaseObjects(), ask, taken };
}

const ofDefault = (cluster: string): Request => ({ cluster, name: 'default' });
const none = new Set<string>();
const all = new Set(['default', 'kube-node-lease', 'kube-public', 'kube-system']);

test('one is asked; when it was born with the object, nobody else is, now or later', () => {
  const { objects, ask, taken } = subject();
  for (const cluster of ['red', 'blue']) objects.told(cluster, none, ask);
  assert.deepEqual(taken(), ['red/default']);
  objects.found(ofDefault('red'), true);
  objects.told('late', undefined, ask);
  assert.deepEqual(taken(), []);
});

test('when it was not, all are asked for what they lack, those that come later too', () => {
  const { objects, ask, taken } = subject();
  objects.told('red', none, ask);
  objects.told('blue', new Set(['default', 'kube-system']), ask);
  objects.told('green', all, ask);
  taken();
  objects.found(ofDefault('red'), false);
  const ofRed = ['red/default', 'red/kube-node-lease', 'red/kube-public', 'red/kube-system'];
  assert.deepEqual(taken(), [...ofRed, 'blue/kube-node-lease', 'blue/kube-public']);
  objects.told('late', new Set(['default', 'kube-node-lease', 'kube-public']), ask);
  assert.deepEqual(taken(), ['late/kube-system']);
});

test('one that fails is put off: the next one is asked, and what it says counts', () => {
  const { objects, ask, taken } = subject();
  for (const cluster of ['red', 'blue']) objects.told(cluster, none, ask);
  taken();
  objects.failed(ofDefault('red'));
  assert.deepEqual(taken(), ['blue/default']);
  objects.failed(ofDefault('blue'));
  assert.deepEqual(taken(), ['red/default']);
  objects.found(ofDefault('blue'), true);
  objects.failed(ofDefault('red'));
  assert.deepEqual(taken(), []);
});

test('the only one is not asked again when it fails: the queue does that', () => {
  const { objects, ask, taken } = subject();
  objects.told('red', none, ask);
  taken();
  objects.failed(ofDefault('red'));
  assert.deepEqual(taken(), []);
});

test('a place that somebody changed, or that can say nothing, is passed over', () => {
  const { objects, ask, taken } = subject();
  for (const cluster of ['red', 'blue']) objects.told(cluster, none, ask);
  taken();
  objects.changed('red', 'default');
  assert.ok(!objects.isOpen(ofDefault('red')));
  objects.found(ofDefault('red'), true);
  assert.deepEqual(taken(), ['red/kube-node-lease']);
  for (const name of ['kube-node-lease', 'kube-public', 'kube-system'])
    objects.found({ cluster: 'red', name }, undefined);
  assert.deepEqual(taken(), ['red/kube-public', 'red/kube-system', 'blue/default']);
});

test('when the one that was asked goes, the next one is', () => {
  const { objects, ask, taken } = subject();
  for (const cluster of ['red', 'blue']) objects.told(cluster, none, ask);
  taken();
  objects.forget('red');
  assert.deepEqual(taken(), ['blue/default']);
  objects.clear();
  objects.forget('blue');
  assert.deepEqual(taken(), []);
});
