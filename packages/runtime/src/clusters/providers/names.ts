/** Names of clusters. */

import type { ClusterName } from '../../cluster.ts';

/** Returns the name of the object, with the namespace before it if the objects are in several namespaces. */
export const nameWithin = (
  namespace: string | undefined,
  object: { readonly namespace?: string | undefined; readonly name?: string },
): ClusterName => (namespace === undefined && object.namespace ? `${object.namespace}/${object.name}` : object.name!);
