/**
 * Reads and removes `metadata.clusterName`, in which Hangar names the cluster of each object on a stream of many clusters. It is a field of
 * the stream, not of the object, and does not leave the cache of the fleet.
 */

import type { ApiObject } from '@hangar/client';
import type { ClusterName } from '../cluster.ts';

export const clusterOf = ({ metadata }: ApiObject): ClusterName | undefined =>
  (metadata as { clusterName?: ClusterName }).clusterName;

/** Copies `metadata`: deleting a field makes an object larger and slower (dictionary mode of V8). */
export function withoutCluster<T extends ApiObject>(object: T): T {
  const { clusterName: _, ...metadata }: { clusterName?: string } = object.metadata as object;
  object.metadata = metadata;
  return object;
}
