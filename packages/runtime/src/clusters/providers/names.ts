/** What clusters are called. */

import type { ClusterName } from '../../cluster.ts';

/** As their object, where all are in one namespace or none; otherwise with the namespace before it. */
export const nameWithin = (
  namespace: string | undefined,
  object: { readonly namespace?: string | undefined; readonly name?: string },
): ClusterName => (namespace === undefined && object.namespace ? `${object.namespace}/${object.name}` : object.name!);
