/** Groups the events of one revision by control plane, as far as a place is concerned, by exact position in the key. */

import type { StoreEvent } from '@hangar/store';
import { identityKey, isTenantPath, keysKey, rootPath } from '../layout.ts';
import { tenantsPrefix } from '../tenant.ts';
import type { ClusterKey, Place } from './place.ts';

export interface Touched {
  /** Events of own entries, in the order of the store, by the part of the key after the control plane's prefix. */
  readonly own: Map<string, StoreEvent>;
  /** Base entries that were hidden or restored. */
  readonly hidden: Map<string, StoreEvent['type']>;
  tenant?: StoreEvent;
  identity?: StoreEvent;
  keys?: StoreEvent;
}

const identityName = identityKey('');
const keysName = keysKey('');

export const keyOf = (event: StoreEvent): string => (event.type === 'put' ? event.entry.key : event.key);

/** Returns an empty map if the revision does not affect the place, which is the common case. */
export function touchedClusters(
  events: readonly StoreEvent[],
  { own, hidden }: Place,
  split: (key: string) => ClusterKey | undefined,
): Map<string, Touched> {
  const all = new Map<string, Touched>();
  const of = (cluster: string): Touched => {
    let touched = all.get(cluster);
    if (!touched) all.set(cluster, (touched = { own: new Map(), hidden: new Map() }));
    return touched;
  };
  for (const event of events) {
    const found = split(keyOf(event));
    if (!found) continue;
    const { cluster, rest } = found;
    if (rest.startsWith(own)) of(cluster).own.set(rest, event);
    else if (rest.startsWith(hidden)) of(cluster).hidden.set(rest.slice(hidden.length - own.length), event.type);
    else if (rest === identityName) of(cluster).identity = event;
    else if (rest === keysName) of(cluster).keys = event;
    if (cluster === rootPath && rest.startsWith(tenantsPrefix)) {
      const name = rest.slice(tenantsPrefix.length);
      // A change of a Tenant object does not affect whether it exists.
      if ((event.type === 'delete' || !event.previous) && isTenantPath(name)) of(name).tenant = event;
    }
  }
  return all;
}
