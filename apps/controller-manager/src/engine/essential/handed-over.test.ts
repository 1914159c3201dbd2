import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '@hangar/api';
import { controllersAnnotation, controllersByAnnotation } from '@hangar/controllers';
import { controlPlaneAnnotation, HandedOver, keyOfSource } from './handed-over.ts';

interface Said {
  readonly by?: string;
  readonly controlPlane?: string;
  readonly controllers?: string;
  readonly suspension?: string;
}

const tenant = ({ by, controlPlane = 'cp', controllers = 'External', suspension }: Said = {}): KubeObject => {
  const annotations = {
    [controlPlaneAnnotation]: controlPlane,
    [controllersAnnotation]: controllers,
    ...(by && { [controllersByAnnotation]: by }),
  };
  return { metadata: { annotations }, spec: { suspension } } as unknown as KubeObject;
};

test('Tenants name registrations, and endpoints with what they are', () => {
  assert.equal(keyOfSource({ kind: 'ControlPlaneRegistration', name: 'a' }), 'a');
  assert.equal(keyOfSource({ kind: 'ControlPlaneEndpoint', name: 'a' }), 'endpoint/a');
});

test('only Tenants count that are left to others, by somebody’s mark', () => {
  const handed = new HandedOver();
  for (const one of [tenant({ by: 'mine', controllers: 'Essential' }), tenant()]) {
    assert.deepEqual(handed.put('red', one), ['cp']);
    assert.deepEqual([handed.pathOf('cp', 'mine'), handed.clusterAt('red')], [undefined, undefined]);
    assert.equal(handed.tenantOf('cp'), 'red', 'it is there all the same');
  }
  assert.deepEqual(handed.put('green', { metadata: {} } as KubeObject), []);
  assert.deepEqual(handed.put('red', tenant({ by: 'mine' })), ['cp']);
  assert.deepEqual([handed.pathOf('cp', 'mine'), handed.clusterAt('red')], ['red', 'cp']);
  handed.put('red', tenant({ by: 'other' }));
  assert.equal(handed.pathOf('cp', 'mine'), undefined);
  assert.deepEqual(handed.delete('red'), ['cp']);
  assert.deepEqual([handed.delete('red'), handed.tenantOf('cp')], [[], undefined]);
});

test('a registration’s mark counts for the control plane that the Tenant is of', () => {
  const handed = new HandedOver();
  handed.put('red', tenant({ by: 'mine', controlPlane: 'x' }));
  assert.equal(handed.pathOf('y', 'mine'), undefined);
  assert.deepEqual(handed.put('red', tenant({ by: 'mine', controlPlane: 'y' })), ['x', 'y']);
  assert.deepEqual([handed.pathOf('x', 'mine'), handed.pathOf('y', 'mine')], [undefined, 'red']);
});

test('an endpoint’s counts for the cluster of its name, and for none of that of a registration', () => {
  const handed = new HandedOver();
  assert.deepEqual(handed.put('red', tenant({ by: 'endpoint/e', controlPlane: 'x' })), ['e']);
  assert.deepEqual([handed.pathOf('e', 'endpoint/e'), handed.clusterAt('red')], ['red', 'e']);
  assert.equal(handed.pathOf('x', 'endpoint/e'), undefined);
  assert.equal(handed.pathOf('e', 'e'), undefined);
});

test('of two that are the same, one is it; the other when the first goes', () => {
  const handed = new HandedOver();
  for (const path of ['red', 'blue', 'green']) handed.put(path, tenant({ by: 'mine' }));
  assert.equal(handed.pathOf('cp', 'mine'), 'red');
  assert.deepEqual(handed.delete('red'), ['cp']);
  assert.equal(handed.pathOf('cp', 'mine'), 'blue');
  handed.put('blue', tenant());
  assert.equal(handed.pathOf('cp', 'mine'), 'green');
});

test('a suspended one is told of, and no longer when it is not', () => {
  const handed = new HandedOver();
  assert.deepEqual(handed.put('red', tenant({ by: 'mine', suspension: 'ReadOnly' })), ['cp']);
  assert.ok(handed.isSuspended('red'));
  assert.deepEqual(handed.put('red', tenant({ by: 'mine', suspension: '' })), ['cp']);
  assert.ok(!handed.isSuspended('red'));
});
