/** CREATE: decode → default → managedFields → admit → prepare → validate → one compare-and-set on an absent key. */

import {
  alreadyExists,
  conflict,
  generateName,
  nameNotGenerated,
  staleObject,
  StatusError,
  UnclassifiedError,
  updateManagedFields,
  validateMetadata,
} from '@hangar/api';
import type { FieldError, KubeObject } from '@hangar/api';
import { once } from '@hangar/cel/work';
import { Slicer } from '@hangar/core';
import { absent } from '@hangar/store';
import type { Entry, Revision, Write } from '@hangar/store';
import { budgetOf, restOf } from '../admission/expressions/request-work.ts';
import type { Allocation } from '../allocation/allocation.ts';
import { inTurn } from '../allocation/turns.ts';
import { forbidden } from '../auth/forbidden.ts';
import { objectKey } from '../control-plane.ts';
import type { Answer } from '../http/message.ts';
import { entryAnswer, imaginedEntry, wantedBy } from '../objects/answers.ts';
import { decodeObject } from '../objects/decode.ts';
import { bodyBytesMax, unconditionalAttemptsMax } from '../limits.ts';
import { sentFormat } from '../request/media.ts';
import { managerOf, writeOptions } from '../request/options.ts';
import type { WriteOptions } from '../request/options.ts';
import { admissionRequest } from './admission-request.ts';
import { groupResource, warn } from './call.ts';
import { withOtherVersions } from './other-versions.ts';
import type { Call } from './call.ts';
import { refuseInvalid } from './sliced.ts';
import { dropRepeatedOwners, fillSystemFields, settleNamespace, timestamp, wipeSystemFields } from './metadata.ts';

export async function create(call: Call): Promise<Answer> {
  const { request, resource, query } = call;
  const want = wantedBy(call);
  const format = sentFormat(request.header('content-type'), resource.struct !== undefined);
  const bytes = await request.body(bodyBytesMax);
  const options = writeOptions(query, 'CreateOptions');
  const slicer = new Slicer(call.plane.clock);
  const object = await decodeObject(bytes, {
    resource,
    controlPlane: call.plane.name,
    format,
    slicer,
    fieldValidation: options.fieldValidation,
    warn: (text) => warn(call, text),
  });
  wipeSystemFields(object);
  settleNamespace(call, object);
  dropRepeatedOwners(call, object, false);
  const owning = ownFields(call, undefined, object, options);
  if (owning) await owning;
  await slicer.pause();
  const entry = await createObject(call, object, options);
  await slicer.pause();
  return entryAnswer(call, want, entry, 201);
}

/** Records field managers in managedFields. Synchronous, unless a webhook has to convert the object. */
export function ownFields(
  call: Call,
  live: KubeObject | undefined,
  object: KubeObject,
  options: WriteOptions,
): void | Promise<void> {
  const { resource, request, info, plane } = call;
  const { metadata } = object;
  const sent = metadata.managedFields;
  return withOtherVersions(call, (conversion) => {
    if (sent) metadata.managedFields = sent;
    else delete metadata.managedFields;
    updateManagedFields({
      type: resource.mergeType,
      live,
      object,
      manager: managerOf(options, request.header('user-agent')),
      apiVersion: resource.apiVersion,
      subresource: info.subresource,
      now: timestamp(plane.clock),
      resetFields: resource.strategy.resetFields(info.subresource),
      ...conversion,
    });
  });
}

/** Attempts with generated names that are taken. */
const generatedNamesMax = 8;

/** Stores an object that was decoded and has its managedFields. Rejects with 409 if the name is taken, 422 if it is invalid. */
export async function createObject(call: Call, object: KubeObject, options: WriteOptions): Promise<Entry> {
  const { plane } = call;
  await plane.admission.mutate(admissionRequest(call, object, options));
  // Admission may change the object, but must not move it to another namespace.
  settleNamespace(call, object);
  dropRepeatedOwners(call, object, true);
  const { metadata } = object;
  if (metadata.name || !metadata.generateName) return storeNew(call, object, options);
  for (let attempt = 1; ; attempt++) {
    // Not structuredClone: it keeps maps shared that defaulting shares; a copy in Go does not share them.
    const copy = JSON.parse(JSON.stringify(object)) as KubeObject;
    copy.metadata.name = generateName(metadata.generateName, plane.random);
    try {
      return await storeNew(call, copy, options);
    } catch (error) {
      const isTaken = error instanceof StatusError && error.code === 'AlreadyExists';
      if (!isTaken) throw error;
      if (attempt === generatedNamesMax) throw nameNotGenerated(groupResource(call), copy.metadata.name);
    }
  }
}

const allocationOf = ({ allocation, resource }: Call): Allocation | undefined => allocation ?? resource.allocation;

async function storeNew(call: Call, object: KubeObject, options: WriteOptions): Promise<Entry> {
  if (!allocationOf(call)) return (await tryStoreNew(call, object, options))!;
  for (let attempt = 0; attempt < unconditionalAttemptsMax; attempt++) {
    const store = (): Promise<Entry | undefined> => tryStoreNew(call, structuredClone(object), options);
    const entry = await (attempt === 0 ? store() : inTurn(call.plane.store, call.plane.clock, store));
    if (entry) return entry;
  }
  throw conflict(groupResource(call), object.metadata.name ?? '', staleObject);
}

/** Returns undefined if its allocation was taken concurrently. */
async function tryStoreNew(call: Call, object: KubeObject, options: WriteOptions): Promise<Entry | undefined> {
  const { plane, resource } = call;
  const slicer = new Slicer(plane.clock);
  fillSystemFields(object, plane.clock, plane.random);
  resource.strategy.prepareForCreate(object);
  resource.recordCreator?.(object, call.user);
  const allocated = (await allocationOf(call)?.create({ plane, isDryRun: options.isDryRun }, object)) ?? [];
  await slicer.pause();
  const rest = restOf(call, plane.clock);
  if (rest) await rest;
  await refuseInvalid(call, object, () => errorsOfNew(call, object));
  await slicer.pause();
  for (const text of resource.strategy.warningsOnCreate(object)) warn(call, text);
  await slicer.pause();
  resource.complete?.(plane, object);
  if (call.info.verb !== 'create') await insistOnCreate(call);
  await plane.admission.validate(admissionRequest(call, object, options));
  const { name = '', namespace = '' } = object.metadata;
  const key = objectKey(plane, resource, namespace, name);
  if (call.info.verb === 'create' && metadataVersion(object) !== '0') {
    throw new UnclassifiedError('resourceVersion should not be set on objects to be created');
  }
  if (options.isDryRun) {
    const { entry } = await plane.store.get(key);
    if (entry) throw taken(call, name, entry);
    await slicer.pause();
    const imagined = imaginedEntry(resource, object, 0 as Revision);
    return resource.roundTrip ? { ...imagined, value: await resource.roundTrip(imagined.value as Buffer) } : imagined;
  }
  await slicer.pause();
  const encoded = resource.stored.encode(object);
  await slicer.pause();
  // The response is the value as it will be read.
  const value = resource.roundTrip ? await resource.roundTrip(encoded) : encoded;
  const put: Write = { type: 'put', key, value, expected: absent, ...(await leaseOf(call)) };
  const result = await plane.store.commit([put, ...allocated]);
  if (!result.committed) {
    const conflicting = result.conflicts.find((one) => one.key === key);
    if (!conflicting) return undefined;
    throw taken(call, name, conflicting.entry);
  }
  const { revision } = result;
  await resource.settled?.(plane, revision);
  return { key, value, createRevision: revision, modRevision: revision, version: 1, lease: undefined };
}

/** The request was authorized as an update or apply: creating requires the create permission as well. */
async function insistOnCreate({ guard, user, info }: Call): Promise<void> {
  const creation = { ...info, verb: 'create' } as const;
  const { decision, reason, error } = await guard.judge(user, creation);
  if (decision !== 'allow') throw error ?? forbidden(user, creation, reason);
}

const metadataVersion = ({ metadata }: KubeObject): string => metadata.resourceVersion || '0';

export async function leaseOf({ plane, resource }: Call): Promise<Pick<Write & { type: 'put' }, 'lease'>> {
  return resource.timeToLiveMs === undefined ? {} : { lease: await plane.expiry.lease(resource.timeToLiveMs) };
}

function taken(call: Call, name: string, existing: Entry | undefined): StatusError {
  const error = alreadyExists(groupResource(call), name);
  const isGoing = existing && call.resource.stored.object(existing).metadata.deletionTimestamp !== undefined;
  if (!isGoing) return error;
  return new StatusError('AlreadyExists', `object is being deleted: ${error.message}`, {
    details: error.status.details!,
  });
}

function errorsOfNew(call: Call, object: KubeObject): FieldError[] {
  const { resource } = call;
  const { strategy } = resource;
  return [
    ...once(() =>
      validateMetadata(object.metadata, {
        namespaced: resource.namespaced,
        standardFinalizers: resource.hasStandardFinalizers ?? false,
        validateName: (name, isPrefix) => strategy.validateName(name, isPrefix),
      }),
    ),
    ...strategy.validateCreate(object, () => budgetOf(call)),
  ];
}
