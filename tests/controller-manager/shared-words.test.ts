/** Words that the operator writes and others read, in packages that do not know each other. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as controllers from '@hangar/controllers';
import {
  annotations,
  controllersAnnotation,
  controllersReady,
  engineNotSupported,
  pathOf,
} from '@hangar/controlplane-operator';
import { servicesAnnotation } from '@hangar/runtime/clusters';
import { conditionTypes } from '../../apps/controller-manager/src/conditions/condition-of.ts';
import { controlPlaneAnnotation, keyOfSource } from '../../apps/controller-manager/src/engine/essential/handed-over.ts';
import { notHandedOver } from '../../apps/controller-manager/src/engine/essential/states.ts';
import { tenantAt } from '../../apps/controller-manager/src/engine/essential/tenant-address.ts';
import { endpointMark } from '../../operators/controlplane/src/registration/endpoint-controllers.ts';

test('a Tenant says in the same words who runs its controllers, and whose it is', () => {
  assert.equal(controllersAnnotation, controllers.controllersAnnotation);
  assert.equal(annotations.controllersBy, controllers.controllersByAnnotation);
  assert.equal(annotations.name, controlPlaneAnnotation);
  assert.equal(endpointMark('e'), keyOfSource({ kind: 'ControlPlaneEndpoint', name: 'e' }));
});

test('the condition that the operator looks for is the one that is written', () => {
  assert.equal(controllersReady, conditionTypes.controllers);
  assert.equal(engineNotSupported, notHandedOver('r').reason);
});

test('an endpoint says in one place what it is for', () => {
  assert.equal(annotations.services, servicesAnnotation);
});

test('addresses that the operator makes are found to be the tenant’s', () => {
  assert.equal(tenantAt(`https://hangar.example${pathOf('team-a')}`), 'team-a');
  assert.equal(tenantAt(`https://hangar.example/below${pathOf('team-a')}/`), 'team-a');
  for (const other of ['https://kube.example:6443', 'https://team-a.example/', `https://a${pathOf('a')}/api`, 'none']) {
    assert.equal(tenantAt(other), undefined, other);
  }
});
