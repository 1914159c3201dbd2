/** Changes of objects of addons in tenants, filtered from the feed of all writes: costs one lookup per write. */

import { labels } from '@hangar/controlplane-operator';
import type { InsideChange } from '@hangar/controlplane-operator';
import type { FedChange, FeedListener, TenantFeed } from '@hangar/server';
import { rootName } from './clients.ts';

/** Runs until the signal. */
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
