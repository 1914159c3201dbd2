/**
 * Whose an object is, where those of many clusters come on one stream: Hangar writes it into `metadata.clusterName`. It is no field
 * of the object, only of the stream, and never goes further than the fleet's cache.
 */

import type { ApiObject } from '@hangar/client';
import type { ClusterName } from '../cluster.ts';

export const clusterOf = ({ metadata }: ApiObject): ClusterName | undefined =>
  (metadata as { clusterName?: ClusterName }).clusterName;

/** In a new `metadata`: an object that a field is deleted from becomes larger and slower (V8's dictionary mode). */
export function withoutCluster<T extends ApiObject>(object: T): T {
  const { clusterName: _, ...metadata }: { clusterName?: string } = object.metadata as object;
  object.metadata = metadata;
  return object;
}
