/**
 * Makes an object be as a function says: created when it does not exist, written when the function changed something, left
 * alone otherwise. Server-side apply (`client.apply`) does the same without a read and without conflicts over fields of others:
 * prefer it where the wanted state does not depend on the one that is there.
 *
 * `mutate` must set what it wants and nothing else: a field that the server defaults and the function takes away would be
 * written each time.
 */

import type { JsonObject } from '@hangar/api';
import type { ApiObject, Client, Kind, ObjectKey, WriteOptions } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { RuntimeError } from '../errors.ts';
import { cloneJson } from '../json/clone-json.ts';
import { sameJson } from '../json/same-json.ts';
import { mergePatchOf } from './differences.ts';

export interface Outcome<T extends ApiObject> {
  readonly object: T;
  readonly operation: 'created' | 'updated' | 'unchanged';
}

/** Changes what it is given, which is a copy; must leave name and namespace. */
export type Mutate<T extends ApiObject> = (object: T) => void | Promise<void>;

/**
 * Rejects with `Conflict` when somebody wrote in between, with `AlreadyExists` when a cache did not know the object yet: a
 * reconciler lets both go up, to be called again. What `mutate` does to the status is not written for kinds that have it apart.
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
 * Sends only what changed, so that fields of others are safe without a conflict; lists are replaced as a whole. What `mutate`
 * did to the status is written too, apart. Rejects with `Invalid` when the object was made anew in between: its uid is another.
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
  // Of this object and no other: one that was made anew meanwhile has not asked for it.
  const uid = before.metadata.uid;
  const object = patch
    ? await client.patch(kind, key, { type: 'merge', body: withUid(patch, uid) }, options)
    : cloneJson(before);
  if (sameJson(apart(before)[1], status)) return { object, operation: patch ? 'updated' : 'unchanged' };
  return { object: await patchedStatus(client, kind, key, object, status, options), operation: 'updated' };
}

interface Versions<T> {
  /** Undefined: it does not exist. */
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
