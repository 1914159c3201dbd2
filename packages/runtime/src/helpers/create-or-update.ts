/**
 * Brings an object into the state that a function sets: created when it does not exist, written when the function changed it, unchanged
 * otherwise. Server-side apply (`client.apply`) does the same without a read and without conflicts over fields of other managers: prefer it
 * unless the desired state depends on the current one.
 *
 * `mutate` must only set desired fields: a defaulted field that it removes would be written each time.
 */

import type { JsonObject } from '@hangar/api';
import type { ApiObject, Client, Kind, ObjectKey, WriteOptions } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { RuntimeError } from '../errors.ts';
import { cloneJson } from '../json/clone-json.ts';
import { sameJson } from '../json/same-json.ts';
import { mergePatchOf } from './differences.ts';

/** The result of `createOrUpdate` and `createOrPatch`. */
export interface Outcome<T extends ApiObject> {
  readonly object: T;
  readonly operation: 'created' | 'updated' | 'unchanged';
}

/** Changes a copy of the object into the desired state. Must not change name and namespace. */
export type Mutate<T extends ApiObject> = (object: T) => void | Promise<void>;

/**
 * Creates the object, or updates it if `mutate` changes it. Rejects with `Conflict` when the object was changed concurrently, and with
 * `AlreadyExists` when a cache did not contain the object yet; a reconciler lets both errors propagate and is called again. Changes of
 * `status` are not written for kinds with a status subresource.
 */
export async function createOrUpdate<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  key: ObjectKey,
  mutate: Mutate<T>,
  options: WriteOptions = {},
): Promise<Outcome<T>> {
  const { before, after } = await mutated(client, kind, key, mutate, options);
  if (!before) return { object: await client.create(kind, after, options), operation: 'created' };
  if (sameJson(before, after)) return { object: before, operation: 'unchanged' };
  return { object: await client.update(kind, after, options), operation: 'updated' };
}

/**
 * Creates the object, or sends a merge patch with the changes of `mutate`. Fields of other managers stay unchanged without a conflict;
 * lists are replaced as a whole. Changes of `status` are written with a second request. Rejects with `Invalid` when the object was
 * recreated concurrently, because its uid differs.
 */
export async function createOrPatch<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  key: ObjectKey,
  mutate: Mutate<T>,
  options: WriteOptions = {},
): Promise<Outcome<T>> {
  const { before, after } = await mutated(client, kind, key, mutate, options);
  const [wanted, status] = apart(after);
  if (!before) {
    const object = await client.create(kind, after, options);
    return { object: await patchedStatus(client, kind, key, object, status, options), operation: 'created' };
  }
  const patch = mergePatchOf(apart(before)[0], wanted);
  // The patch applies to this object only, not to one that was recreated with the same name.
  const uid = before.metadata.uid;
  const object = patch
    ? await client.patch(kind, key, { type: 'merge', body: withUid(patch, uid) }, options)
    : cloneJson(before);
  if (sameJson(apart(before)[1], status)) return { object, operation: patch ? 'updated' : 'unchanged' };
  return { object: await patchedStatus(client, kind, key, object, status, options), operation: 'updated' };
}

interface Versions<T> {
  /** Undefined: the object does not exist. */
  readonly before: T | undefined;
  readonly after: T;
}

async function mutated<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  key: ObjectKey,
  mutate: Mutate<T>,
  { signal }: WriteOptions,
): Promise<Versions<T>> {
  const before = await client.get(kind, key, { signal }).catch((error: unknown) => {
    if (hasCode(error, 'NotFound')) return undefined;
    throw error;
  });
  const after = cloneJson(before) ?? newObject(kind, key);
  await mutate(after);
  const { name, namespace } = after.metadata;
  if (name !== key.name || (namespace ?? '') !== (key.namespace ?? '')) {
    throw new RuntimeError('InvalidOptions', `the name or namespace of ${kind.kind} ${key.name} was changed`);
  }
  return { before, after };
}

function newObject<T extends ApiObject>({ apiVersion, kind }: Kind<T>, { namespace, name }: ObjectKey): T {
  const metadata = namespace === undefined ? { name } : { namespace, name };
  return { apiVersion, kind, metadata } as T;
}

function apart(object: ApiObject): [wanted: JsonObject, status: unknown] {
  const { status, ...wanted } = object as ApiObject & { status?: unknown };
  return [wanted, status];
}

const withUid = (patch: JsonObject, uid: string | undefined): JsonObject =>
  uid === undefined ? patch : { ...patch, metadata: { ...(patch['metadata'] as JsonObject | undefined), uid } };

async function patchedStatus<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  key: ObjectKey,
  object: T,
  status: unknown,
  options: WriteOptions,
): Promise<T> {
  const [, there] = apart(object);
  const patch = mergePatchOf({ status: there }, { status });
  if (!patch) return object;
  return client.status.patch(kind, key, { type: 'merge', body: withUid(patch, object.metadata.uid) }, options);
}
