/** Context of the steps, and their access to objects: metadata only, and never to another object of the same name. */

import type { ApiObject, Client, Kind, KindMapper, ObjectKey } from '@hangar/client';
import type { ObjectMeta } from '@hangar/api';
import { StatusError } from '@hangar/api/status';
import { hasCode } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import type { Graph } from '../graph.ts';
import { kindOfResource } from '../kinds.ts';
import type { Node } from '../node.ts';

export interface Work {
  readonly cluster: string;
  readonly client: Client;
  readonly mapper: KindMapper;
  readonly graph: Graph;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Enqueues the node. */
  ask(node: Node): void;
}

export interface LiveObject {
  readonly kind: Kind;
  readonly key: ObjectKey;
  readonly object: ApiObject;
}

export const keyOfNode = ({ namespace, name }: Node): ObjectKey => (namespace === '' ? { name } : { namespace, name });

/** Reads the object from the server. Undefined: it was deleted, or another object has its name. */
export async function liveObject(work: Work, node: Node): Promise<LiveObject | undefined> {
  const { mapper, signal } = work;
  const kind = await kindOfResource(mapper, node, signal);
  const key = keyOfNode(node);
  const object = await findNamed(work, kind, key);
  return object?.metadata.uid === node.uid ? { kind, key, object } : undefined;
}

/**
 * Returns undefined only if the server reports that this object does not exist. A NotFound because the version or resource is no longer
 * served proves nothing: then discovery is refreshed, and the request is retried.
 */
export async function findNamed(
  { client, mapper, signal }: Work,
  kind: Kind,
  key: ObjectKey,
): Promise<ApiObject | undefined> {
  try {
    return await client.metadata.get(kind, key, { signal });
  } catch (error) {
    if (!hasCode(error, 'NotFound')) throw error;
    if (error instanceof StatusError && error.status.details?.name === key.name) return undefined;
    await mapper.refresh({ signal });
    throw error;
  }
}

const attemptsMax = 5;

/**
 * Applies the patch that `change` returns, as long as the object has this uid. Undefined from `change`: nothing to do. Returns false if the
 * object was deleted. Rejects with `Conflict` under constant concurrent changes.
 */
export async function patchMetadata(
  work: Work,
  node: Node,
  change: (metadata: ObjectMeta) => Partial<ObjectMeta> | undefined,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const live = await liveObject(work, node);
    if (!live) return false;
    const { kind, key, object } = live;
    const changed = change(object.metadata);
    if (!changed) return true;
    const { uid, resourceVersion } = object.metadata;
    const body = { metadata: { uid, resourceVersion, ...changed } };
    try {
      await work.client.metadata.patch(kind, key, { type: 'merge', body }, { signal: work.signal });
      return true;
    } catch (error) {
      if (hasCode(error, 'NotFound')) return false;
      if (!hasCode(error, 'Conflict') || attempt === attemptsMax) throw error;
    }
  }
}

/** Removes a finalizer if it exists. */
export const removeFinalizer = (work: Work, node: Node, finalizer: string): Promise<boolean> =>
  patchMetadata(work, node, ({ finalizers }) =>
    finalizers?.includes(finalizer) ? { finalizers: finalizers.filter((one) => one !== finalizer) } : undefined,
  );

/** Removes references to these owners. */
export const removeOwners = (work: Work, node: Node, uids: ReadonlySet<string>): Promise<boolean> =>
  patchMetadata(work, node, ({ ownerReferences = [] }) => {
    const left = ownerReferences.filter(({ uid }) => !uids.has(uid));
    return left.length === ownerReferences.length ? undefined : { ownerReferences: left };
  });
