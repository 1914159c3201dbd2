/** A feed with an additional watcher, which receives the events of whole control planes, and interruptions. */

import type { KubeObject } from '@hangar/api';
import type { FeedListener, FleetFeed } from '@hangar/controllers';

/** Receives Tenants before the listener, and everything else after it. */
export interface FeedWatcher {
  tenantComes(path: string, tenant: KubeObject): void;
  tenantCame(path: string): void;
  tenantGone(path: string): void;
  told(path: string): void;
  synced(): void;
  reset(): void;
  interrupted(error: Error): void;
}

export const watchedFeed = (feed: FleetFeed, watcher: FeedWatcher): FleetFeed => ({
  has: (cluster) => feed.has(cluster),
  retell: (cluster) => feed.retell(cluster),
  follow: (listener, signal) => feed.follow(watchedListener(listener, watcher), signal),
});

const watchedListener = (listener: FeedListener, watcher: FeedWatcher): FeedListener => ({
  wants: (resource) => listener.wants(resource),
  changed: (change) => listener.changed(change),
  synced() {
    listener.synced();
    watcher.synced();
  },
  reset() {
    listener.reset();
    watcher.reset();
  },
  interrupted(error) {
    listener.interrupted?.(error);
    watcher.interrupted(error);
  },
  clusterChanged(cluster, tenant) {
    watcher.tenantComes(cluster, tenant);
    listener.clusterChanged(cluster, tenant);
    watcher.tenantCame(cluster);
  },
  clusterTold(cluster) {
    listener.clusterTold(cluster);
    watcher.told(cluster);
  },
  clusterGone(cluster) {
    listener.clusterGone(cluster);
    watcher.tenantGone(cluster);
  },
});
