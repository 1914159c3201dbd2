/** Location of the objects of one resource in every control plane, by exact position in the key. */

import { hiddenName } from '@hangar/store';
import { clustersPrefix } from '../layout.ts';

export interface Place {
  /** Below the prefix of a control plane: `configmaps/`, or `configmaps/default/` for one namespace. */
  readonly own: string;
  /** Prefix of the tombstones of base objects. */
  readonly hidden: string;
}

/** `storagePrefix`: prefix of the resource, such as `configmaps`, `services/specs`, `example.com/widgets`. */
export function placeOf(storagePrefix: string, namespace = ''): Place {
  const own = namespace === '' ? `${storagePrefix}/` : `${storagePrefix}/${namespace}/`;
  return { own, hidden: `${hiddenName}${own}` };
}

/** A key, split into its control plane and the part after the prefix of that control plane. */
export interface ClusterKey {
  readonly cluster: string;
  readonly rest: string;
}

/** The function returns undefined for keys outside of all control planes. */
export function clusterKeys(storePrefix: string): (key: string) => ClusterKey | undefined {
  const clusters = clustersPrefix(storePrefix);
  return (key) => {
    if (!key.startsWith(clusters)) return undefined;
    const end = key.indexOf('/', clusters.length);
    if (end <= clusters.length) return undefined;
    return { cluster: key.slice(clusters.length, end), rest: key.slice(end + 1) };
  };
}
