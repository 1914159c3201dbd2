/** Changes the start settings of members and the number of pods. The reconciler applies the number to the StatefulSet. */

import { find } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { isDeepStrictEqual } from 'node:util';
import { etcdMembershipName } from '../../render/index.ts';
import { membershipData, readMembership } from '../membership.ts';
import type { Membership } from '../membership.ts';
import type { ActionContext } from './index.ts';

/** Rejects with `Conflict` if the ConfigMap changed since it was read. */
export async function setMembership(membership: Membership, context: ActionContext): Promise<boolean> {
  const { target, observation, client, signal } = context;
  const key = { namespace: target.namespace, name: etcdMembershipName(target) };
  const map = await find(client, ConfigMap, key, { signal });
  // The decision was made from another state.
  if (!map || !isDeepStrictEqual(readMembership(map), observation.membership)) return false;
  const { uid, resourceVersion } = map.metadata;
  const data = membershipData(target, membership);
  const removed = Object.keys(map.data ?? {}).filter((name) => !(name in data));
  const body = {
    metadata: { uid, resourceVersion },
    data: { ...Object.fromEntries(removed.map((name) => [name, null])), ...data },
  };
  await client.patch(ConfigMap, key, { type: 'merge', body }, { signal });
  return true;
}
