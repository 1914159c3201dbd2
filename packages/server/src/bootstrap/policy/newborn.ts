/**
 * Returns an object of the default policy as first stored. The pipeline for client objects would give the same result, but would take
 * longer than the rest of the first start: these objects are valid and complete, and have few fields.
 */

import type { JsonObject, KubeObject } from '@hangar/api';
import type { ControlPlane } from '../../control-plane.ts';
import { fillSystemFields, timestamp } from '../../verbs/metadata.ts';

export function newborn(plane: ControlPlane, { kind, apiVersion, metadata, ...content }: KubeObject): KubeObject {
  const object: KubeObject = { kind, apiVersion, metadata: { ...metadata }, ...content };
  fillSystemFields(object, plane.clock, plane.random);
  object.metadata.managedFields = [
    {
      manager: 'hangar',
      operation: 'Update',
      apiVersion,
      time: timestamp(plane.clock),
      fieldsType: 'FieldsV1',
      fieldsV1: {
        ...(content['aggregationRule'] ? { 'f:aggregationRule': { '.': {}, 'f:clusterRoleSelectors': {} } } : {}),
        'f:metadata': { 'f:annotations': keysOf(metadata.annotations!), 'f:labels': keysOf(metadata.labels!) },
        ...Object.fromEntries(atomic.flatMap((name) => (content[name] ? [[`f:${name}`, {}]] : []))),
      },
    },
  ];
  return object;
}

/** Fields that are owned as a whole, in alphabetical order. */
const atomic = ['roleRef', 'rules', 'subjects'];

const keysOf = (map: Readonly<Record<string, string>>): JsonObject => ({
  '.': {},
  ...Object.fromEntries(
    Object.keys(map)
      .sort()
      .map((key) => [`f:${key}`, {}]),
  ),
});
