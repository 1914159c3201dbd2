/** Builds objects that the server itself declares. */

import { updateManagedFields } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import type { ControlPlane } from '../control-plane.ts';
import type { Resource } from '../resources/resource.ts';
import { fillSystemFields, timestamp } from '../verbs/metadata.ts';

/** Runs the same steps as for an object that a client creates. */
export function make(plane: ControlPlane, resource: Resource, declared: KubeObject): KubeObject {
  const { object } = resource.read(declared, undefined);
  resource.strategy.applyDefaults(object);
  fillSystemFields(object, plane.clock, plane.random);
  updateManagedFields({
    type: resource.mergeType,
    live: undefined,
    object,
    manager: 'hangar',
    apiVersion: resource.apiVersion,
    subresource: '',
    now: timestamp(plane.clock),
    resetFields: resource.strategy.resetFields(''),
  });
  const { status } = object;
  resource.strategy.prepareForCreate(object);
  // Only the server writes the status of its own objects.
  if (declared['status'] !== undefined) object['status'] = status;
  return object;
}
