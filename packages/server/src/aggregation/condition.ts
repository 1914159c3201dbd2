/** Writes the availability of an APIService into its status, for users and for the other replicas. */

import { updateManagedFields } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { objectKey } from '../control-plane.ts';
import type { ControlPlane } from '../control-plane.ts';
import { apiServicesName } from '../resources/api-services.ts';
import { timestamp } from '../verbs/metadata.ts';
import type { ApiServiceCondition } from './api-service.ts';
import type { Availability } from './availability.ts';

/** Attempts on conflict. If all fail, the next check writes the status. */
const attemptsMax = 5;

/** Writes nothing if the status is already up to date, or if the object was deleted or replaced. */
export async function writeAvailability(
  plane: ControlPlane,
  { name, uid }: { readonly name: string; readonly uid: string },
  found: Availability,
): Promise<void> {
  const resource = plane.catalogue.find(apiServicesName)!;
  const key = objectKey(plane, resource, '', name);
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const { entry } = await plane.store.get(key);
    const live = entry && resource.stored.object(entry);
    if (!live || live.metadata.uid !== uid) return;
    const now = timestamp(plane.clock);
    const conditions = withCondition(conditionsOf(live), found, now);
    if (!conditions) return;
    const object = structuredClone(live);
    object['status'] = { ...(object['status'] as object | undefined), conditions };
    updateManagedFields({
      type: resource.mergeType,
      live,
      object,
      manager: 'hangar',
      apiVersion: resource.apiVersion,
      subresource: 'status',
      now,
      resetFields: resource.strategy.resetFields('status'),
    });
    const value = resource.stored.encode(object);
    const { committed } = await plane.store.commit([{ type: 'put', key, value, expected: entry.modRevision }]);
    if (committed) return;
  }
}

const conditionsOf = (object: KubeObject): readonly ApiServiceCondition[] =>
  (object['status'] as { conditions?: readonly ApiServiceCondition[] } | undefined)?.conditions ?? [];

/** Returns undefined if the conditions are already up to date. The transition time changes only with the status. */
function withCondition(
  conditions: readonly ApiServiceCondition[],
  { status, reason, message }: Availability,
  now: string,
): ApiServiceCondition[] | undefined {
  const known = conditions.find(({ type }) => type === 'Available');
  if (known?.status === status && known.reason === reason && known.message === message) return undefined;
  const lastTransitionTime = known?.status === status ? (known.lastTransitionTime ?? now) : now;
  const condition = { type: 'Available', status, lastTransitionTime, reason, message };
  return known ? conditions.map((one) => (one === known ? condition : one)) : [...conditions, condition];
}
