/**
 * The objects that a token depends on. They are read from the store itself when a token is verified; afterwards, while the
 * result is remembered, what is in memory tells whether one of them went away.
 */

import { parseTime } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { collectionPrefix, objectKey } from '../../control-plane.ts';
import type { ControlPlane } from '../../control-plane.ts';
import { leewaySeconds } from './claims.ts';

export type DependedOn = 'serviceaccounts' | 'secrets' | 'pods' | 'nodes';

export interface Found {
  readonly object: KubeObject;
  /** False as soon as it is seen that it is another one, or none. Not asked for, nothing is kept in memory for it. */
  isThere(): boolean;
  /** `isThere`, and nobody has changed it. */
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
  // What cannot be had from memory is taken as it was: then the result counts until it is found out anew.
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

/** Looking in vain costs a question to the store: not with every request. */
const peekAgainMs = 100;

const gone = { createRevision: -1, modRevision: -1 };

/** It is being deleted, for longer than clocks may differ. */
export function isDeleted({ metadata }: KubeObject, nowMs: number): boolean {
  const { deletionTimestamp } = metadata;
  if (deletionTimestamp === undefined) return false;
  return parseTime(deletionTimestamp, 'second').seconds * 1_000 < nowMs - leewaySeconds * 1_000;
}
