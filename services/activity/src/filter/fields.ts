/** The fields of events that filters name, their CEL types, and the columns that hold some of them. */

import { intType, kubernetesEnvironment, listOf, mapOf, stringType, Timestamp, timestampType } from '@hangar/cel';
import type { CelBindings, Environment, ObjectType, Type } from '@hangar/cel';
import { lazy } from '@hangar/core';
import { objectOf, storable, stringOf } from '../events/event.ts';
import type { AuditEvent, EventColumns } from '../events/event.ts';

const objectType = (name: string, fields: Readonly<Record<string, Type>>): ObjectType => ({
  kind: 'object',
  name,
  fields: new Map(Object.entries(fields).map(([field, type]) => [field, { type }])),
});

const userType = objectType('User', { username: stringType, uid: stringType, groups: listOf(stringType) });

const reference = ['apiGroup', 'apiVersion', 'resource', 'subresource', 'namespace', 'name', 'uid'] as const;
const plain = ['auditID', 'stage', 'level', 'verb', 'requestURI', 'userAgent'] as const;

const types: Readonly<Record<string, Type>> = {
  ...Object.fromEntries(plain.map((name) => [name, stringType])),
  plane: stringType,
  stageTimestamp: timestampType,
  user: userType,
  impersonatedUser: userType,
  sourceIPs: listOf(stringType),
  objectRef: objectType('ObjectReference', Object.fromEntries(reference.map((name) => [name, stringType]))),
  responseStatus: objectType('ResponseStatus', { code: intType, reason: stringType, message: stringType }),
  annotations: mapOf(stringType, stringType),
};

export const filterEnvironment: () => Environment = lazy(() => kubernetesEnvironment(types));

/** A column of the database, with the kind of its values. */
export type FilterColumn = keyof EventColumns | 'plane' | 'timeUs';

/** Columns of fields, by the path in expressions. Other fields are evaluated on rows. */
export const columnOfPath: Readonly<Record<string, FilterColumn>> = {
  auditID: 'auditId',
  stage: 'stage',
  verb: 'verb',
  plane: 'plane',
  stageTimestamp: 'timeUs',
  'user.username': 'username',
  'objectRef.apiGroup': 'apiGroup',
  'objectRef.resource': 'resource',
  'objectRef.subresource': 'subresource',
  'objectRef.namespace': 'namespace',
  'objectRef.name': 'name',
  'responseStatus.code': 'code',
};

export interface FilteredEvent {
  readonly plane: string;
  readonly timeUs: number;
  readonly columns: EventColumns;
  readonly event: AuditEvent;
}

/** Returns the variables of an event. Absent fields are empty, so that no expression fails because of them. */
export function bindingsOf({ plane, timeUs, columns, event }: FilteredEvent): CelBindings {
  const status = objectOf(event['responseStatus']);
  const given = objectOf(event['objectRef']);
  return {
    ...Object.fromEntries(plain.map((name) => [name, storable(stringOf(event[name]))])),
    auditID: columns.auditId,
    stage: columns.stage,
    verb: columns.verb,
    plane,
    stageTimestamp: new Timestamp(BigInt(timeUs) * 1_000n),
    user: userOf(event['user']),
    impersonatedUser: userOf(event['impersonatedUser']),
    sourceIPs: stringsOf(event['sourceIPs']),
    objectRef: Object.fromEntries(reference.map((name) => [name, storable(stringOf(given[name]))])),
    responseStatus: {
      code: columns.code,
      reason: storable(stringOf(status['reason'])),
      message: storable(stringOf(status['message'])),
    },
    annotations: Object.fromEntries(
      Object.entries(objectOf(event['annotations'])).filter(([, value]) => typeof value === 'string'),
    ),
  };
}

function userOf(value: unknown): object {
  const { username, uid, groups } = objectOf(value);
  return { username: storable(stringOf(username)), uid: storable(stringOf(uid)), groups: stringsOf(groups) };
}

const stringsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
