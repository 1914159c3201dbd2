/**
 * Read, change, compare-and-set: the core of update, patch and apply. On conflict the change is recomputed from the stored object, until it
 * succeeds or is refused.
 */

import {
  badRequest,
  carryOverMetadata,
  conflict,
  invalid,
  invalidObject,
  keepManagedFieldsTimes,
  notFound,
  quote,
  staleObject,
  StatusError,
  validateMetadataUpdate,
} from '@hangar/api';
import type { FieldError, KubeObject, ObjectMeta } from '@hangar/api';
import { once } from '@hangar/cel/work';
import { Slicer } from '@hangar/core';
import type { Entry, Write } from '@hangar/store';
import { budgetOf, restOf } from '../admission/expressions/request-work.ts';
import { inTurn } from '../allocation/turns.ts';
import { objectKey } from '../control-plane.ts';
import { isStale } from '../objects/stale.ts';
import { unconditionalAttemptsMax } from '../limits.ts';
import type { WriteOptions } from '../request/options.ts';
import { groupResource, namespaceOf, warn } from './call.ts';
import type { Call } from './call.ts';
import { admissionRequest } from './admission-request.ts';
import { refuseInvalid } from './sliced.ts';
import { createObject, leaseOf } from './create.ts';
import { dropRepeatedOwners, settleNamespace } from './metadata.ts';

export interface Change {
  /**
   * Returns the new object for the live one; `undefined`: there is none, and it may be created. With its managedFields. Called once per
   * attempt.
   */
  apply(live: KubeObject | undefined): KubeObject | Promise<KubeObject>;
  /** Creates a missing object. */
  readonly allowsCreate: boolean;
  readonly options: WriteOptions;
  /** The uid of the object must match the live one; otherwise a changed uid is a validation error. */
  readonly insistsOnUid?: boolean;
  /** Returns the object for admission, if it differs; then `apply` has already run mutating admission. */
  seenAs?(object: KubeObject): KubeObject;
  /** Limit of attempts on conflict. */
  readonly attemptsMax: number;
}

export interface Persisted {
  readonly entry: Entry;
  readonly wasCreated: boolean;
}

export async function persist(call: Call, change: Change): Promise<Persisted> {
  const { plane, resource, info } = call;
  const key = objectKey(plane, resource, namespaceOf(call), info.name);
  for (let attempt = 1; attempt <= unconditionalAttemptsMax; attempt++) {
    const { entry } = await plane.store.get(key);
    if (!entry && !change.allowsCreate) throw notFound(groupResource(call), info.name);
    const slicer = new Slicer(plane.clock);
    const live = entry && resource.stored.object(entry);
    await slicer.pause();
    const object = await change.apply(live);
    await slicer.pause();
    checkVersionForm(object);
    if (!entry || !live) {
      const created = await createdUnlessThere(call, object, change);
      if (created) return { entry: created, wasCreated: true };
      continue;
    }
    if (change.insistsOnUid) checkUid(call, object, live);
    const isUnconditional = checkVersion(call, object, live);
    const persisted = await replace(call, { entry, live, object, change });
    if (persisted) return { entry: persisted, wasCreated: false };
    if (!isUnconditional && attempt >= change.attemptsMax) break;
  }
  throw conflict(groupResource(call), info.name, staleObject);
}

/** Returns undefined if the object was created concurrently, so that it can be updated. */
async function createdUnlessThere(call: Call, object: KubeObject, { options }: Change): Promise<Entry | undefined> {
  try {
    return await createObject(call, object, options);
  } catch (error) {
    if (error instanceof StatusError && error.code === 'AlreadyExists') return undefined;
    throw error;
  }
}

function checkVersionForm({ metadata: { resourceVersion = '' } }: KubeObject): void {
  if (!/^\d*$/.test(resourceVersion)) {
    throw badRequest(`strconv.ParseUint: parsing ${quote(resourceVersion)}: invalid syntax`);
  }
}

/** A different uid refers to an object that was deleted. */
function checkUid(call: Call, object: KubeObject, live: KubeObject): void {
  const { resource, info, plane } = call;
  const { uid } = object.metadata;
  if (!uid || uid === live.metadata.uid) return;
  const key = objectKey(plane, resource, namespaceOf(call), info.name).replace(plane.prefix, '/registry/');
  throw conflict(
    groupResource(call),
    info.name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`,
  );
}

/** Throws if the object is based on another version than the live one; returns true if it has none. */
function checkVersion(call: Call, object: KubeObject, live: KubeObject): boolean {
  const { resource, info } = call;
  const given = object.metadata.resourceVersion ?? '';
  const liveVersion = live.metadata.resourceVersion!;
  if (given === '' || given === '0') {
    if (resource.strategy.allowsUnconditionalUpdate) {
      object.metadata.resourceVersion = liveVersion;
      return true;
    }
    throw invalidObject({ group: resource.group, kind: resource.name }, info.name, [
      invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
    ]);
  }
  if (given !== liveVersion) throw conflict(groupResource(call), info.name, staleObject);
  return false;
}

interface Replacement {
  readonly entry: Entry;
  readonly live: KubeObject;
  readonly object: KubeObject;
  readonly change: Change;
}

/** Returns undefined on conflict. */
async function replace(call: Call, { entry, live, object, change }: Replacement): Promise<Entry | undefined> {
  const { plane, resource } = call;
  if (!change.seenAs) await plane.admission.mutate(admissionRequest(call, object, change.options, live));
  settleNamespace(call, object);
  dropRepeatedOwners(call, object, true);
  for (let attempt = 0; attempt < unconditionalAttemptsMax; attempt++) {
    const copy = resource.allocation ? structuredClone(object) : object;
    const store = (): Promise<Entry | false | 'contended'> => tryReplace(call, { entry, live, object: copy, change });
    const replaced = await (attempt === 0 ? store() : inTurn(plane.store, plane.clock, store));
    if (replaced !== 'contended') return replaced || undefined;
  }
  return undefined;
}

/** Returns false if the object was changed concurrently; `contended` if its allocation was taken concurrently. */
async function tryReplace(
  call: Call,
  { entry, live, object, change }: Replacement,
): Promise<Entry | false | 'contended'> {
  const { plane, resource, info } = call;
  const { options, seenAs = itself } = change;
  const slicer = new Slicer(plane.clock);
  prepare(call, object, live);
  const goes = isGone(call, object, live);
  const allocation = info.subresource === '' || goes ? resource.allocation : undefined;
  const context = { plane, isDryRun: options.isDryRun };
  const allocated =
    (await (goes ? allocation?.remove(context, live) : allocation?.update(context, object, live))) ?? [];
  await slicer.pause();
  const rest = restOf(call, plane.clock);
  if (rest) await rest;
  await refuseInvalid(call, object, () => errorsOfUpdate(call, object, live));
  await slicer.pause();
  if (info.subresource === '') for (const text of resource.strategy.warningsOnUpdate(object, live)) warn(call, text);
  await slicer.pause();
  if (info.subresource === '') resource.complete?.(plane, object);
  await plane.admission.validate(admissionRequest(call, seenAs(object), options, seenAs(live)));
  const isAsStoredNow = !isStale(entry) && resource.stored.isCurrent(entry);
  if (!goes && keepManagedFieldsTimes(object, live) && isAsStoredNow) return entry;
  await slicer.pause();
  const encoded = resource.stored.encode(object);
  await slicer.pause();
  const value = resource.roundTrip ? await resource.roundTrip(encoded) : encoded;
  if (options.isDryRun) return { ...entry, value };
  const write: Write = goes
    ? { type: 'delete', key: entry.key, expected: entry.modRevision }
    : { type: 'put', key: entry.key, value, expected: entry.modRevision, ...(await leaseOf(call)) };
  const result = await plane.store.commit([write, ...allocated]);
  if (!result.committed) return result.conflicts.some(({ key }) => key === entry.key) ? false : 'contended';
  await resource.settled?.(plane, result.revision);
  if (goes) return { ...entry, value };
  return { ...entry, value, modRevision: result.revision, version: entry.version + 1 };
}

const itself = (object: KubeObject): KubeObject => object;

/** Copies system fields from the live object. */
function prepare({ resource, info }: Call, object: KubeObject, live: KubeObject): void {
  carryOverMetadata(object.metadata, live.metadata);
  resource.strategy.prepareForUpdate(object, live, info.subresource);
  // A strategy may copy status or spec of the old object, which lack fields that only an update carries over.
  carryOverDeletion(object.metadata, live.metadata);
}

/** An update never reverts a deletion. */
function carryOverDeletion(meta: ObjectMeta, old: ObjectMeta): void {
  if (old.deletionTimestamp === undefined) return;
  meta.deletionTimestamp = old.deletionTimestamp;
  if (old.deletionGracePeriodSeconds !== undefined) meta.deletionGracePeriodSeconds ??= old.deletionGracePeriodSeconds;
}

function errorsOfUpdate(call: Call, object: KubeObject, live: KubeObject): FieldError[] {
  const { resource, info } = call;
  const { strategy } = resource;
  return [
    ...once(() =>
      validateMetadataUpdate(object.metadata, live.metadata, {
        namespaced: resource.namespaced,
        standardFinalizers: resource.hasStandardFinalizers ?? false,
      }),
    ),
    ...strategy.validateUpdate(object, live, info.subresource, () => budgetOf(call)),
  ];
}

/** An update that removes the last finalizer of a terminating object deletes it. */
function isGone({ resource }: Call, object: KubeObject, live: KubeObject): boolean {
  if ((object.metadata.finalizers?.length ?? 0) > 0 || live.metadata.deletionTimestamp === undefined) return false;
  if ((live.metadata.deletionGracePeriodSeconds ?? 0) !== 0) return false;
  return !resource.deletion.isHeld(object);
}
