/**
 * Finalizers: clean-up that must complete before an object is deleted.
 *
 * Writes are JSON merge patches of the whole list, with the resourceVersion of the object that was read. A merge patch without it could
 * remove the finalizer of another controller; server-side apply could not remove a finalizer of another manager, and would recreate a
 * deleted object. Therefore a concurrent change causes `Conflict`, which a reconciler lets propagate: it is called again with the current
 * object.
 */

import type { ApiObject, Client, Kind, WriteOptions } from '@hangar/client';
import { keyOf } from '@hangar/client';
import { hasCode } from '@hangar/core';
import type { Result } from '../controller/reconcile.ts';

type Finalized = Pick<ApiObject, 'metadata'>;

/** Returns whether the object has the finalizer. */
export const hasFinalizer = ({ metadata }: Finalized, finalizer: string): boolean =>
  metadata.finalizers?.includes(finalizer) ?? false;

/** Returns whether the object has a deletion timestamp. */
export const isBeingDeleted = ({ metadata }: Finalized): boolean => metadata.deletionTimestamp !== undefined;

/** Adds the finalizer to a draft or a copy of an object. Returns true if the object changed. */
export function addFinalizer(object: Finalized, finalizer: string): boolean {
  if (hasFinalizer(object, finalizer)) return false;
  object.metadata.finalizers = [...(object.metadata.finalizers ?? []), finalizer];
  return true;
}

/** Removes the finalizer from a draft or a copy of an object. Returns true if the object changed. */
export function removeFinalizer({ metadata }: Finalized, finalizer: string): boolean {
  const { finalizers = [] } = metadata;
  if (!finalizers.includes(finalizer)) return false;
  metadata.finalizers = finalizers.filter((one) => one !== finalizer);
  if (metadata.finalizers.length === 0) delete metadata.finalizers;
  return true;
}

/**
 * Writes the finalizer to the server if necessary and returns the current object. Does nothing for an object that is being deleted,
 * because the server rejects new finalizers for it. Rejects with `Conflict` or `NotFound`.
 */
export async function ensureFinalizer<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  object: T,
  finalizer: string,
  options?: WriteOptions,
): Promise<T> {
  if (hasFinalizer(object, finalizer) || isBeingDeleted(object)) return object;
  return writeFinalizers(client, kind, object, [...(object.metadata.finalizers ?? []), finalizer], options);
}

/** Removes the finalizer on the server. Succeeds if the object no longer exists. Rejects with `Conflict`. */
export async function dropFinalizer<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  object: T,
  finalizer: string,
  options?: WriteOptions,
): Promise<void> {
  if (!hasFinalizer(object, finalizer)) return;
  const left = object.metadata.finalizers!.filter((one) => one !== finalizer);
  await writeFinalizers(client, kind, object, left, options).catch((error: unknown) => {
    if (!hasCode(error, 'NotFound')) throw error;
  });
}

/** Options of `finalize`. */
export interface FinalizeOptions extends WriteOptions {
  readonly finalizer: string;
  /**
   * Called when the object is being deleted, and again after each failure, so it must be idempotent. If its result requests a requeue,
   * the finalizer stays.
   */
  cleanUp(): Promise<Result | void> | Result | void;
}

/** `live` is the object with its finalizer. If it is absent, the object is being deleted, and the reconciler returns `result`. */
export type FinalizeOutcome<T extends ApiObject> =
  | { readonly live: T; readonly result?: undefined }
  | { readonly live?: undefined; readonly result: Result | undefined };

/**
 * Adds the finalizer to a live object, or runs the clean-up of an object that is being deleted. Call it at the start of a reconciler:
 *
 *     const { live, result } = await finalize(client, Widget, widget, { finalizer, cleanUp: () => release(widget) });
 *     if (!live) return result;
 */
export async function finalize<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  object: T,
  { finalizer, cleanUp, ...options }: FinalizeOptions,
): Promise<FinalizeOutcome<T>> {
  if (!isBeingDeleted(object)) return { live: await ensureFinalizer(client, kind, object, finalizer, options) };
  if (!hasFinalizer(object, finalizer)) return { result: undefined };
  const result = (await cleanUp()) ?? undefined;
  if (result?.requeue || result?.requeueAfterMs !== undefined) return { result };
  await dropFinalizer(client, kind, object, finalizer, options);
  return { result };
}

function writeFinalizers<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  object: T,
  finalizers: readonly string[],
  options: WriteOptions | undefined,
): Promise<T> {
  const { uid, resourceVersion } = object.metadata;
  const body = { metadata: { uid, resourceVersion, finalizers } };
  return client.patch(kind, keyOf(object), { type: 'merge', body }, options);
}
