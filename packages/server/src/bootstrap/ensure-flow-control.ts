/**
 * Ensures priority levels and flow schemas at every start, as kube-apiserver does: missing objects are created, mandatory ones are
 * corrected, suggested ones follow the declaration until an administrator takes them over, and obsolete ones are deleted. One transaction,
 * or none.
 */

import { isDeepStrictEqual } from 'node:util';
import { updateManagedFields } from '@hangar/api';
import type { JsonObject, KubeObject } from '@hangar/api';
import { absent, prefixRange } from '@hangar/store';
import type { Entry, Write } from '@hangar/store';
import { collectionPrefix, objectKey } from '../control-plane.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { Resource } from '../resources/resource.ts';
import { fillSystemFields, timestamp } from '../verbs/metadata.ts';
import { autoUpdateAnnotation, flowSchemas, isMandatory, priorityLevels } from './flow-control.ts';

/** Each failed attempt lost against another replica. */
const attemptsMax = 10;

/** Same field manager as in kube-apiserver, so that a real one that takes over has nothing to change. */
const producer = 'api-priority-and-fairness-config-producer-v1';
const consumer = 'api-priority-and-fairness-config-consumer-v1';

export async function ensureFlowControl(plane: ControlPlane): Promise<void> {
  const find = (resource: string): Resource =>
    plane.catalogue.find({ group: 'flowcontrol.apiserver.k8s.io', version: 'v1', resource })!;
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const writes = [
      ...(await writesFor(plane, find('prioritylevelconfigurations'), priorityLevels())),
      ...(await writesFor(plane, find('flowschemas'), flowSchemas())),
    ];
    if (writes.length === 0 || (await plane.store.commit(writes)).committed) return;
  }
  throw new Error('failed to write the default priority levels and flow schemas');
}

async function writesFor(plane: ControlPlane, resource: Resource, wanted: readonly KubeObject[]): Promise<Write[]> {
  const { entries } = await plane.store.range(prefixRange(collectionPrefix(plane, resource, '')));
  const existing = new Map(entries.map((entry) => [entry.key, entry]));
  const writes: Write[] = [];
  for (const one of wanted) {
    const key = objectKey(plane, resource, '', one.metadata.name!);
    const entry = existing.get(key);
    existing.delete(key);
    const object = entry ? revised(plane, resource, resource.stored.object(entry), one) : newborn(plane, one);
    if (!object) continue;
    writes.push({ type: 'put', key, value: resource.stored.encode(object), expected: entry?.modRevision ?? absent });
  }
  return [...writes, ...[...existing.values()].flatMap((entry) => removal(resource, entry))];
}

/** Deletes an object that is no longer declared and was not taken over by an administrator. */
function removal(resource: Resource, entry: Entry): Write[] {
  const isKept = saidInAnnotation(resource.stored.object(entry)) !== true;
  return isKept ? [] : [{ type: 'delete', key: entry.key, expected: entry.modRevision }];
}

/** Returns undefined if the object is up to date. */
function revised(
  plane: ControlPlane,
  resource: Resource,
  live: KubeObject,
  wanted: KubeObject,
): KubeObject | undefined {
  const isOurs = isMandatory(wanted) || (saidInAnnotation(live) ?? live.metadata.generation === 1);
  const spec = isOurs ? specFor(live, wanted) : live['spec'];
  const annotations = { ...live.metadata.annotations, [autoUpdateAnnotation]: String(isOurs) };
  const isSameSpec = isDeepStrictEqual(spec, live['spec']);
  if (isSameSpec && isDeepStrictEqual(annotations, live.metadata.annotations)) return undefined;
  const generation = (live.metadata.generation ?? 1) + (isSameSpec ? 0 : 1);
  const object: KubeObject = { ...live, metadata: { ...live.metadata, generation, annotations }, spec: spec! };
  updateManagedFields({
    type: resource.mergeType,
    live,
    object,
    manager: producer,
    apiVersion: resource.apiVersion,
    subresource: '',
    now: timestamp(plane.clock),
    resetFields: resource.strategy.resetFields(''),
  });
  return object;
}

/** Keeps `spec.exempt` as an administrator set it: it is the only configurable field of an exempt level. */
function specFor(live: KubeObject, wanted: KubeObject): JsonObject {
  const spec = wanted['spec'] as JsonObject;
  const exempt = (live['spec'] as JsonObject | undefined)?.['exempt'];
  return spec['type'] === 'Exempt' && exempt ? { ...spec, exempt } : spec;
}

/** Returns undefined if Go would not parse the value as a boolean. Then an object that was never changed still belongs to the server. */
function saidInAnnotation({ metadata }: KubeObject): boolean | undefined {
  const text = metadata.annotations?.[autoUpdateAnnotation] ?? '';
  if (/^(?:1|t|T|true|TRUE|True)$/.test(text)) return true;
  return /^(?:0|f|F|false|FALSE|False)$/.test(text) ? false : undefined;
}

/** Returns the object as first stored. The pipeline for client objects would give the same result. */
function newborn(plane: ControlPlane, declared: KubeObject): KubeObject {
  const object: KubeObject = { ...declared, metadata: { ...declared.metadata, generation: 1 }, status: {} };
  fillSystemFields(object, plane.clock, plane.random);
  const time = timestamp(plane.clock);
  const entry = { operation: 'Update', apiVersion: declared.apiVersion, time, fieldsType: 'FieldsV1' } as const;
  const fields = {
    'f:metadata': { 'f:annotations': { '.': {}, [`f:${autoUpdateAnnotation}`]: {} } },
    'f:spec': fieldsOf(declared['spec'] as JsonObject),
  };
  const managedFields = [{ manager: producer, ...entry, fieldsV1: fields }];
  if (declared.kind !== 'FlowSchema') {
    object.metadata.managedFields = managedFields;
    return object;
  }
  object['status'] = { conditions: [notDangling(declared, time)] };
  object.metadata.managedFields = [
    { manager: consumer, ...entry, operation: 'Apply', fieldsV1: conditionFields, subresource: 'status' },
    ...managedFields,
  ];
  return object;
}

const notDangling = ({ spec }: KubeObject, time: string): JsonObject => ({
  type: 'Dangling',
  status: 'False',
  lastTransitionTime: time,
  reason: 'Found',
  message: `This FlowSchema references the PriorityLevelConfiguration object named "${
    (spec as { priorityLevelConfiguration: { name: string } }).priorityLevelConfiguration.name
  }" and it exists`,
});

const conditionFields: JsonObject = {
  'f:status': {
    'f:conditions': {
      'k:{"type":"Dangling"}': {
        '.': {},
        'f:lastTransitionTime': {},
        'f:message': {},
        'f:reason': {},
        'f:status': {},
        'f:type': {},
      },
    },
  },
};

/** Atomic lists are owned as a whole, and the target of a pointer is owned itself. */
function fieldsOf(value: JsonObject): JsonObject {
  const names = Object.keys(value).sort();
  return Object.fromEntries(
    names.map((name) => {
      const one = value[name];
      if (typeof one !== 'object' || one === null || Array.isArray(one)) return [`f:${name}`, {}];
      const isPointer = name !== 'priorityLevelConfiguration';
      return [`f:${name}`, { ...(isPointer ? { '.': {} } : {}), ...fieldsOf(one as JsonObject) }];
    }),
  );
}
