/**
 * Finalizers: what must happen before an object may go.
 *
 * Written as a JSON merge patch of the whole list, with the resourceVersion of the object that was looked at. A merge patch
 * without it could take away what another controller put there meanwhile; server-side apply could not take away what another
 * manager's write had put, and would make an object anew that is gone. So whoever comes second gets `Conflict`, and a reconciler
 * lets that go up: it is called again with what is there now.
 */

import type { ApiObject, Client, Kind, WriteOptions } from '@hangar/client';
import { keyOf } from '@hangar/client';
import { hasCode } from '@hangar/core';
import type { Result } from '../controller/reconcile.ts';

type Finalized = Pick<ApiObject, 'metadata'>;

export const hasFinalizer = ({ metadata }: Finalized, finalizer: string): boolean =>
  metadata.finalizers?.includes(finalizer) ?? false;

export const isBeingDeleted = ({ metadata }: Finalized): boolean => metadata.deletionTimestamp !== undefined;

/** Changes the object, a draft or a copy. True when it was not there. */
export function addFinalizer(object: Finalized, finalizer: string): boolean {
  if (hasFinalizer(object, finalizer)) return false;
  object.metadata.finalizers = [...(object.metadata.finalizers ?? []), finalizer];
  return true;
}

/** Changes the object, a draft or a copy. True when it was there. */
export function removeFinalizer({ metadata }: Finalized, finalizer: string): boolean {
  const { finalizers = [] } = metadata;
  if (!finalizers.includes(finalizer)) return false;
  metadata.finalizers = finalizers.filter((one) => one !== finalizer);
  if (metadata.finalizers.length === 0) delete metadata.finalizers;
  return true;
}

/**
 * Resolves with the object as it is then. One that is being deleted is left alone: the server takes no new finalizers for it.
 * Rejects with `Conflict`, `NotFound`.
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

/** That the object is gone already is success. Rejects with `Conflict`. */
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

export interface FinalizeOptions extends WriteOptions {
  readonly finalizer: string;
  /**
   * Called when the object is being deleted, again after every failure: it must be idempotent. A result that asks for another
   * look says that it is not finished: the finalizer stays.
   */
  cleanUp(): Promise<Result | void> | Result | void;
}

/** `live`: the object, which has the finalizer. Absent: it is being deleted, and `result` is what the reconciler returns. */
export type FinalizeOutcome<T extends ApiObject> =
  | { readonly live: T; readonly result?: undefined }
  | { readonly live?: undefined; readonly result: Result | undefined };

/**
 * The beginning of a reconciler that has something to clean up:
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
