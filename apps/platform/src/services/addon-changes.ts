/** What happens in tenants to the objects that addons brought, out of the one feed of everything: it costs a search in what is written. */

import { labels } from '@hangar/controlplane-operator';
import type { InsideChange } from '@hangar/controlplane-operator';
import type { FedChange, FeedListener, TenantFeed } from '@hangar/server';
import { rootName } from './clients.ts';

/** Until the signal. */
export function addonChanges(
  feed: Pick<TenantFeed, 'follow'>,
  tell: (change: InsideChange) => void,
  signal: AbortSignal,
): Promise<void> {
  const listener: FeedListener = {
    wants: () => true,
    changed(change) {
      if (change.isInitial || change.cluster === rootName || !isOfAddon(change)) return;
      const { cluster, group, resource, namespace, name, resourceVersion } = change;
      tell({ path: cluster, object: `${resource}.${group}/${namespace}/${name}`, resourceVersion });
    },
    synced() {},
    reset() {},
    clusterChanged() {},
    clusterTold() {},
    clusterGone() {},
  };
  return feed.follow(listener, signal);
}

const label = Buffer.from(`"${labels.addon}"`);

const isOfAddon = ({ bytes }: FedChange): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(label);
