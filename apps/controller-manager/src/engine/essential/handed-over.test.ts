import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '@hangar/api';
import { controllersAnnotation, controllersByAnnotation } from '@hangar/controllers';
import { HandedOver, keyOfSource } from './handed-over.ts';

const tenant = (by: string | undefined, controllers = 'External', suspension?: string): KubeObject =>
  ({
    metadata: { annotations: { [controllersAnnotation]: controllers, ...(by && { [controllersByAnnotation]: by }) } },
    spec: { suspension },
  }) as unknown as KubeObject;

test('Tenants name registrations, and endpoints with what they are', () => {
  assert.equal(keyOfSource({ kind: 'ControlPlaneRegistration', name: 'a' }), 'a');
  assert.equal(keyOfSource({ kind: 'ControlPlaneEndpoint', name: 'a' }), 'endpoint/a');
});

test('only Tenants count that are left to others, by somebody’s mark', () => {
  const handed = new HandedOver();
  assert.deepEqual(handed.put('red', tenant('mine', 'Essential')), []);
  assert.deepEqual(handed.put('blue', tenant(undefined)), []);
  assert.deepEqual(handed.put('green', { metadata: {} } as KubeObject), []);
  assert.deepEqual(handed.put('red', tenant('mine')), ['mine']);
  assert.equal(handed.pathOf('mine'), 'red');
  assert.equal(handed.keyOf('red'), 'mine');
  assert.deepEqual(handed.put('red', tenant('other')), ['mine', 'other']);
  assert.equal(handed.pathOf('mine'), undefined);
  assert.deepEqual(handed.delete('red'), ['other']);
  assert.deepEqual(handed.delete('red'), []);
});

test('of two that name the same, one has it; the other when the first goes', () => {
  const handed = new HandedOver();
  handed.put('red', tenant('mine'));
  handed.put('blue', tenant('mine'));
  assert.equal(handed.pathOf('mine'), 'red');
  assert.equal(handed.keyOf('blue'), undefined);
  assert.deepEqual(handed.delete('red'), ['mine']);
  assert.equal(handed.pathOf('mine'), 'blue');
  assert.equal(handed.keyOf('blue'), 'mine');
});

test('a suspended one is told of, and no longer when it is not', () => {
  const handed = new HandedOver();
  assert.deepEqual(handed.put('red', tenant('mine', 'External', 'ReadOnly')), ['mine']);
  assert.ok(handed.isSuspended('red'));
  assert.deepEqual(handed.put('red', tenant('mine', 'External', '')), ['mine']);
  assert.ok(!handed.isSuspended('red'));
});
