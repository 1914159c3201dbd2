/** Finds other objects that a decision depends on. */

import { hasCode } from '@hangar/core';
import type { KubeObject } from '@hangar/api';
import { objectKey } from '../../control-plane.ts';
import type { ControlPlane } from '../../control-plane.ts';
import type { Followed, FollowedResource } from '../../objects/followed.ts';

/** Returns the object from memory. If it is missing, waits for all acknowledged writes before reporting it missing. */
export async function find<T>(followed: Followed<T>, name: string): Promise<T | undefined> {
  const known = (followed.all ?? (await followed.ready())).get(name);
  return known ?? (await followed.fresh()).get(name);
}

/** Reads from the store, for rare lookups. Returns undefined also for invalid names. */
export async function read(
  plane: ControlPlane,
  named: FollowedResource,
  namespace: string,
  name: string,
): Promise<KubeObject | undefined> {
  const resource = plane.catalogue.find(named)!;
  let key: string;
  try {
    key = objectKey(plane, resource, namespace, name);
  } catch (error) {
    if (hasCode(error, 'BadRequest')) return undefined;
    throw error;
  }
  const { entry } = await plane.store.get(key);
  return entry && resource.stored.object(entry);
}
