/** Providers of clusters that are known in advance. */

import { aborted } from '@hangar/core';
import type { Cluster, ClusterName } from '../../cluster.ts';
import { RuntimeError } from '../../errors.ts';
import type { DiscoveredCluster, Provider } from '../contract.ts';
import { anyWrite, fencedClient } from '../engage/fenced-client.ts';

/** A function that creates the cluster for each engagement, or a cluster that the caller runs and closes. */
export type ClusterOrMaker = Cluster | ((signal: AbortSignal) => Promise<Cluster> | Cluster);

/** Returns a provider of a fixed list of clusters. Throws `InvalidOptions` for duplicate names. */
export function fixed(clusters: readonly DiscoveredCluster[], name = 'fixed'): Provider {
  const names = new Set(clusters.map((cluster) => cluster.name));
  if (names.size < clusters.length) throw new RuntimeError('InvalidOptions', 'two clusters have the same name');
  return {
    name,
    async run(discovery, signal) {
      for (const cluster of clusters) discovery.discovered(cluster);
      discovery.synced();
      await aborted(signal);
    },
  };
}

/** Returns a provider of one cluster. */
export const single = (name: ClusterName, cluster: ClusterOrMaker): Provider =>
  fixed([knownCluster(name, cluster)], 'single');

/** Returns a discovered cluster for `fixed`. */
export const knownCluster = (name: ClusterName, cluster: ClusterOrMaker): DiscoveredCluster => ({
  name,
  fingerprint: '',
  open: async (signal) => (typeof cluster === 'function' ? cluster(signal) : borrowed(name, cluster)),
});

/** Returns a cluster that the caller owns: it is neither started nor closed here. */
export const borrowed = (name: ClusterName, cluster: Cluster): Cluster => ({
  name,
  client: fencedClient(cluster.client, anyWrite),
  apiReader: cluster.apiReader,
  cache: cluster.cache,
  start: (signal) => aborted(signal),
});
