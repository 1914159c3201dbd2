/**
 * Provider of clusters that share one cache: objects of the management cluster represent them, one `FleetCache` watches the objects of all
 * of them, and each cluster is a view of it. The cache runs as long as the provider, which the engine stops after the last cluster.
 * Clusters that another server serves have separate caches meanwhile.
 */

import type { ApiObject, Kind } from '@hangar/client';
import { asError } from '@hangar/core';
import type { InformerOptions } from '../../cache/contract.ts';
import type { FleetCache } from '../../cache/fleet-cache.ts';
import type { Cluster, ClusterName } from '../../cluster.ts';
import type { Provider } from '../contract.ts';
import { Incarnations } from './incarnations.ts';
import { informedProvider } from './informed.ts';
import type { ManagementOptions } from './informed.ts';

export interface FleetProviderOptions<T extends ApiObject> {
  readonly name: string;
  readonly management: ManagementOptions;
  /** Cluster-scoped; the name of an object is the name of its cluster. */
  readonly kind: Kind<T>;
  readonly informer: InformerOptions<T>;
  readonly isWanted: (object: T) => boolean;
  readonly newFleet: () => FleetCache;
  readonly open: (name: ClusterName, fleet: FleetCache) => Cluster;
  /** Absent: all clusters are in the cache of the fleet. */
  readonly elsewhere?: {
    /** Reports whether another server serves the cluster, so that it is not in the cache of the fleet. */
    readonly isElsewhere: (object: T) => boolean;
    readonly open: (name: ClusterName) => Cluster;
  };
}

export function fleetProvider<T extends ApiObject>(options: FleetProviderOptions<T>): Provider {
  const { name: providerName, management, kind, isWanted, newFleet, open, elsewhere } = options;
  let runs = 0;
  return informedProvider(providerName, management, ({ cache, announcements, follow }, signal) => {
    // Views of a stopped cache are empty: another run provides other clusters.
    const run = `run ${++runs}`;
    const fleet = newFleet();
    fleet.start(signal).catch((error: unknown) => {
      management.log?.error('the cache of the fleet stopped', { error: asError(error) });
    });
    const objects = cache.informer(kind, options.informer);
    const incarnations = new Incarnations();
    follow(objects, ({ metadata: { name = '' } }) => {
      const object = objects.get({ name });
      if (!object) incarnations.gone(name);
      const incarnation = object && incarnations.seen(name, object.metadata.uid ?? '');
      if (!object || !isWanted(object)) return announcements.tell(name, undefined);
      const isElsewhere = elsewhere?.isElsewhere(object) ?? false;
      // When it returns, the cache of the fleet may lag behind.
      if (isElsewhere) incarnation!.isAlone = false;
      const openAlone = async (signal: AbortSignal): Promise<Cluster> => {
        if (!incarnation!.isAlone) await fleet.refreshed(signal);
        incarnation!.isAlone = true;
        return open(name, fleet);
      };
      const openElsewhere = (): Promise<Cluster> => Promise.resolve(elsewhere!.open(name));
      const { labels = {}, uid = '' } = object.metadata;
      const fingerprint = isElsewhere ? `${run} elsewhere` : run;
      announcements.tell(name, {
        identity: uid,
        cluster: { name, labels, fingerprint, open: isElsewhere ? openElsewhere : openAlone },
      });
    });
  });
}
