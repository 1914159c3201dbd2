/** The Cluster of a HostedControlPlane, and the name that its objects are named after. */

import { find, groupOf } from '@hangar/client';
import type { Client } from '@hangar/client';
import { annotations, clusterApiGroup } from '../api/index.ts';
import type { HostedControlPlane } from '../api/index.ts';
import type { Fault } from '../fault.ts';
import { nameLengthMax } from '../render/index.ts';
import type { ClusterObject } from '../render/index.ts';
import type { World } from './pass.ts';

export interface ClusterQuery {
  readonly world: World;
  readonly client: Client;
  readonly object: HostedControlPlane;
  readonly signal: AbortSignal;
}

/** Returns the reference to the owning Cluster. */
export const ownerOf = ({ metadata }: HostedControlPlane) =>
  metadata.ownerReferences?.find((owner) => owner.kind === 'Cluster' && groupOf(owner) === clusterApiGroup);

/** Returns the owning Cluster, or none for a control plane without a Cluster. */
export async function clusterOf({
  world,
  client,
  object,
  signal,
}: ClusterQuery): Promise<{ readonly object: ClusterObject | undefined } | Fault> {
  const owner = ownerOf(object);
  const { clusterKind } = world;
  if (!owner) {
    // Cluster API sets the owner a moment after both objects exist.
    if (!clusterKind || object.metadata.annotations?.[annotations.standalone] === 'true') return { object: undefined };
    const message = `waiting for a Cluster that references the control plane; set the annotation ${annotations.standalone} to "true" to run without a Cluster`;
    return { reason: 'WaitingForCluster', message };
  }
  if (!clusterKind) {
    return {
      reason: 'ClusterAPIMissing',
      message: `Cluster ${JSON.stringify(owner.name)} is the owner, but Cluster API is not installed`,
    };
  }
  const key = { namespace: object.metadata.namespace, name: owner.name };
  const cluster = await find(client, clusterKind, key, { signal });
  if (cluster) return { object: cluster };
  return {
    reason: 'ClusterNotFound',
    message: `Cluster ${JSON.stringify(`${key.namespace}/${key.name}`)} does not exist`,
  };
}

/** Returns the name of the Cluster, or of the object without a Cluster. It cannot change after the first pass. */
export function nameOf(object: HostedControlPlane, cluster: ClusterObject | undefined): string | Fault {
  const name = cluster?.metadata.name ?? object.metadata.name!;
  const noted = object.metadata.annotations?.[annotations.clusterName];
  if (noted !== undefined && noted !== name) {
    return {
      reason: 'ClusterNameChanged',
      message: `the objects of the control plane are named after ${noted}, but the Cluster is ${name}`,
    };
  }
  if (name.length > nameLengthMax) {
    const message = `the name ${JSON.stringify(name)} is longer than ${nameLengthMax} characters`;
    return { reason: 'NameTooLong', message };
  }
  if (name.includes('.')) {
    const message = `the name ${JSON.stringify(name)} has a dot, which names of Services cannot have: create the object with another name`;
    return { reason: 'InvalidName', message };
  }
  return name;
}
