/** The types of the variables of expressions: a request for admission, the object's namespace, a device. */

import { boolType, dynType, intType, listOf, mapOf, opaque, stringType, timestampType } from '@hangar/cel';
import type { ObjectType, Type } from '@hangar/cel';

const object = (name: string, fields: Readonly<Record<string, Type>>): ObjectType => ({
  kind: 'object',
  name,
  fields: new Map(Object.entries(fields).map(([field, type]) => [field, { type }])),
});

const texts = listOf(stringType);
const textMap = mapOf(stringType, stringType);

const groupVersionKind = object('kubernetes.GroupVersionKind', {
  group: stringType,
  version: stringType,
  kind: stringType,
});
const groupVersionResource = object('kubernetes.GroupVersionResource', {
  group: stringType,
  version: stringType,
  resource: stringType,
});

export const requestType: ObjectType = object('kubernetes.AdmissionRequest', {
  kind: groupVersionKind,
  resource: groupVersionResource,
  subResource: stringType,
  requestKind: groupVersionKind,
  requestResource: groupVersionResource,
  requestSubResource: stringType,
  name: stringType,
  namespace: stringType,
  operation: stringType,
  userInfo: object('kubernetes.UserInfo', {
    username: stringType,
    uid: stringType,
    groups: texts,
    extra: mapOf(stringType, texts),
  }),
  dryRun: boolType,
  options: dynType,
});

export const namespaceType: ObjectType = object('kubernetes.Namespace', {
  metadata: object('kubernetes.NamespaceMetadata', {
    name: stringType,
    generateName: stringType,
    namespace: stringType,
    labels: textMap,
    annotations: textMap,
    UID: stringType,
    creationTimestamp: timestampType,
    deletionGracePeriodSeconds: intType,
    deletionTimestamp: timestampType,
    generation: intType,
    resourceVersion: stringType,
    finalizers: texts,
  }),
  spec: object('kubernetes.NamespaceSpec', { finalizers: texts }),
  status: object('kubernetes.NamespaceStatus', {
    conditions: listOf(
      object('kubernetes.NamespaceCondition', {
        status: stringType,
        type: stringType,
        lastTransitionTime: timestampType,
        message: stringType,
        reason: stringType,
      }),
    ),
    phase: stringType,
  }),
});

/** Type of a device in a claim's selectors. */
export const deviceType: ObjectType = object('kubernetes.DRADevice', {
  driver: stringType,
  attributes: mapOf(stringType, mapOf(stringType, dynType)),
  capacity: mapOf(stringType, mapOf(stringType, opaque('kubernetes.Quantity'))),
  allowMultipleAllocations: boolType,
});

/** Type of `variables` after these declarations. A policy's variables keep only the types that are plain. */
export const variablesType = (variables: ReadonlyMap<string, unknown>): ObjectType =>
  object(
    'kubernetes.variables',
    Object.fromEntries([...variables].map(([name, type]) => [name, plain(type as Type | undefined)])),
  );

const plainKinds = new Set(['bool', 'bytes', 'double', 'duration', 'int', 'null', 'string', 'timestamp', 'uint']);

function plain(type: Type | undefined): Type {
  if (!type) return dynType;
  if (type.kind === 'list') return listOf(plain(type.element));
  if (type.kind === 'map') return mapOf(plain(type.key), plain(type.value));
  return plainKinds.has(type.kind) ? type : dynType;
}
