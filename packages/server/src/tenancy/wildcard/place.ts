/** Where the objects of one resource are in every control plane, told by their exact place in the key. */

import { hiddenName } from '@hangar/store';
import { clustersPrefix } from '../layout.ts';

export interface Place {
  /** Below a control plane's prefix: `configmaps/`, or `configmaps/default/` for those of one namespace. */
  readonly own: string;
  /** Where it is written that objects of the base were deleted. */
  readonly hidden: string;
}

/** `storagePrefix` is the resource's: `configmaps`, `services/specs`, `example.com/widgets`. */
export function placeOf(storagePrefix: string, namespace = ''): Place {
  const own = namespace === '' ? `${storagePrefix}/` : `${storagePrefix}/${namespace}/`;
  return { own, hidden: `${hiddenName}${own}` };
}

/** A key in two: whose it is, and what follows the prefix of that control plane. */
export interface ClusterKey {
  readonly cluster: string;
  readonly rest: string;
}

/** Undefined for keys that are no control plane's. */
export function clusterKeys(storePrefix: string): (key: string) => ClusterKey | undefined {
  const clusters = clustersPrefix(storePrefix);
  return (key) => {
    if (!key.startsWith(clusters)) return undefined;
    const end = key.indexOf('/', clusters.length);
    if (end <= clusters.length) return undefined;
    return { cluster: key.slice(clusters.length, end), rest: key.slice(end + 1) };
  };
}
