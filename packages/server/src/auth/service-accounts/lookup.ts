/**
 * Looks up the objects that a token depends on. They are read from the store when a token is verified; while the result is cached, memory
 * shows whether one of them was deleted.
 */

import { parseTime } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { collectionPrefix, objectKey } from '../../control-plane.ts';
import type { ControlPlane } from '../../control-plane.ts';
import { leewaySeconds } from './claims.ts';

export type DependedOn = 'serviceaccounts' | 'secrets' | 'pods' | 'nodes';

export interface Found {
  readonly object: KubeObject;
  /** Returns false after the object was observed to be deleted or replaced. Does not load anything into memory. */
  isThere(): boolean;
  /** Like `isThere`, and the object was not changed. */
  isUnchanged(): boolean;
}

export async function find(
  plane: ControlPlane,
  resourceName: DependedOn,
  namespace: string,
  name: string,
): Promise<Found | undefined> {
  if (name === '') return undefined;
  const resource = plane.catalogue.find({ group: '', version: 'v1', resource: resourceName })!;
  const key = objectKey(plane, resource, namespace, name);
  const { entry } = await plane.store.get(key);
  if (!entry) return undefined;
  const prefix = collectionPrefix(plane, resource, '');
  const { createRevision, modRevision } = entry;
  // Without a collection in memory the entry counts as unchanged, until the cached result expires.
  let peekAtMs = 0;
  const now = () => {
    if (peekAtMs > 0 && plane.clock.monotonicMs() < peekAtMs) return entry;
    const collection = plane.collections.peek(prefix);
    peekAtMs = collection ? 0 : plane.clock.monotonicMs() + peekAgainMs;
    return collection ? (collection.get(key) ?? gone) : entry;
  };
  return {
    object: resource.stored.object(entry),
    isThere: () => now().createRevision === createRevision,
    isUnchanged: () => now().modRevision === modRevision,
  };
}

/** A failed peek costs a call to the store: limits how often it happens. */
const peekAgainMs = 100;

const gone = { createRevision: -1, modRevision: -1 };

/** Reports whether the object has been terminating for longer than the tolerated clock skew. */
export function isDeleted({ metadata }: KubeObject, nowMs: number): boolean {
  const { deletionTimestamp } = metadata;
  if (deletionTimestamp === undefined) return false;
  return parseTime(deletionTimestamp, 'second').seconds * 1_000 < nowMs - leewaySeconds * 1_000;
}
