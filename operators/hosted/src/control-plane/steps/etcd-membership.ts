/**
 * The ConfigMap with the start settings of etcd members. The reconciler creates it and ends the bootstrap; all later changes are actions of
 * `etcd/care.ts`.
 */

import { StatefulSet } from '@hangar/client/kinds/apps-v1';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { isControlledBy } from '@hangar/runtime';
import { clusterNameLabel } from '../../api/index.ts';
import { bootstrapMembership, closedMembership, membershipData, readMembership } from '../../etcd/membership.ts';
import type { Membership } from '../../etcd/membership.ts';
import type { Fault } from '../../fault.ts';
import { etcdMembershipName, workloadName } from '../../render/index.ts';
import type { Rendered } from '../../render/index.ts';
import { conflictFault, fieldManager, findObject } from '../apply.ts';
import { wasReady } from '../conditions.ts';
import type { Pass } from '../pass.ts';

export async function membershipOf(pass: Pass): Promise<Membership | Fault> {
  const { plane, hostedControlPlane } = pass;
  const key = { namespace: plane.namespace, name: etcdMembershipName(plane) };
  const map = await findObject(pass, ConfigMap, key);
  if (!map) return create(pass);
  if (!isControlledBy(map, hostedControlPlane)) return conflictFault(map);
  const membership = readMembership(map);
  if (membership) return membership;
  const message = `ConfigMap ${JSON.stringify(`${key.namespace}/${key.name}`)} was changed to invalid start settings of etcd: delete it`;
  return { reason: 'InvalidMembership', message };
}

/** If members exist already, none of them may start with an empty data directory. */
async function create(pass: Pass): Promise<Membership> {
  const { plane, client, world, signal, hostedControlPlane } = pass;
  const { namespace, name, owner, spec } = plane;
  const set = await findObject(pass, StatefulSet, { namespace, name: workloadName(plane, 'etcd') });
  const { conditions, initialized } = hostedControlPlane.status ?? {};
  const wasComplete = set !== undefined && (initialized === true || wasReady(conditions, 'EtcdClusterReady'));
  const bootstrap = bootstrapMembership(set?.spec?.replicas ?? spec.etcd?.replicas ?? 3);
  const membership = wasComplete ? closedMembership(bootstrap) : bootstrap;
  const metadata = {
    namespace,
    name: etcdMembershipName(plane),
    labels: { [clusterNameLabel]: name },
    ownerReferences: [owner],
  };
  const object = { metadata, data: membershipData(plane, membership) };
  await world.writes.make('configmap-etcd-members', () => client.create(ConfigMap, object, { fieldManager, signal }));
  return membership;
}

/** All members are ready for the first time: from now on, none of them may start with an empty data directory. */
export async function closeBootstrap(pass: Pass, membership: Membership): Promise<void> {
  const { plane, client, world, signal } = pass;
  const key = { namespace: plane.namespace, name: etcdMembershipName(plane) };
  const map = await findObject(pass, ConfigMap, key);
  if (!map || readMembership(map)?.phase !== 'bootstrap') return;
  const { uid, resourceVersion } = map.metadata;
  const body = { metadata: { uid, resourceVersion }, data: membershipData(plane, closedMembership(membership)) };
  await world.writes.make('configmap-etcd-members-closed', () =>
    client.patch(ConfigMap, key, { type: 'merge', body }, { fieldManager, signal }),
  );
}

/** The StatefulSet with the pods of the membership instead of those of the spec. */
export function withPods(set: Rendered, { replicas, firstOrdinal }: Membership): Rendered {
  const object = set.object as StatefulSet;
  const spec = { ...object.spec!, replicas, ordinals: { start: firstOrdinal } };
  return { ...set, object: { ...object, spec } as StatefulSet };
}
