/**
 * Presents every namespace of one cluster as a cluster, with a client that is limited to that namespace. All of them share one watch for
 * each kind, as in a fleet.
 */

import { StatusError } from '@hangar/api/status';
import type { ApiObject, Client, Kind, KindNames, MetadataClient, ObjectList, Watch } from '@hangar/client';
import type { CacheOptions } from '../../cache/cache-options.ts';
import { FleetCache } from '../../cache/fleet-cache.ts';
import type { Cluster, ClusterName } from '../../cluster.ts';
import { newCluster } from '../../new-cluster.ts';
import type { Provider } from '../contract.ts';
import { anyWrite, fencedClient } from '../engage/fenced-client.ts';
import { confinedClient } from './confined-client.ts';
import { fleetProvider } from './fleet-provider.ts';
import type { ManagementOptions } from './informed.ts';
import { Namespace } from './kinds.ts';

/** Options of `namespaces`. */
export interface NamespacesOptions extends ManagementOptions {
  /** Label selector of namespaces. */
  readonly labelSelector?: string;
  /** Cache options for the objects of the namespaces. */
  readonly cache?: CacheOptions;
}

/** Returns a provider that presents each namespace of one cluster as a cluster. */
export function namespaces(options: NamespacesOptions): Provider {
  const { management, labelSelector, cache, clock, log } = options;
  return fleetProvider({
    name: 'namespaces',
    management: options,
    kind: Namespace,
    informer: { metadataOnly: true, ...(labelSelector ? { labelSelector } : {}) },
    isWanted: () => true,
    newFleet: () => new FleetCache({ client: ownedByNamespaces(management), options: cache, clock, log }),
    open: (name, fleet) => namespaceCluster(name, management, fleet),
  });
}

function namespaceCluster(name: ClusterName, management: Client, fleet: FleetCache): Cluster {
  // The connections are shared by all namespaces.
  const client = fencedClient(management, anyWrite);
  // The fleet cache has only namespaced objects: the Namespace itself is read from the server.
  const cluster = newCluster({ name, client, cache: fleet.cluster(name), uncached: [Namespace] });
  return {
    ...cluster,
    client: confinedClient(cluster.client, name),
    apiReader: confinedClient(client, name),
  };
}

/** Acts as a client of all clusters: the cluster of an object is its namespace. */
function ownedByNamespaces(client: Client): Client {
  const all = fencedClient(client, anyWrite);
  return { ...all, ...marked(client), metadata: { ...all.metadata, ...marked(client.metadata) } };
}

const marked = (client: Pick<MetadataClient, 'list' | 'watch'>): Pick<MetadataClient, 'list' | 'watch'> => ({
  async list<T extends ApiObject>(kind: Kind<T>, options?: object): Promise<ObjectList<T>> {
    insistOnNamespaced(kind);
    const list = await client.list(kind, options);
    for (const object of list.items) mark(object);
    return list;
  },
  async *watch<T extends ApiObject>(kind: Kind<T>, options?: object): Watch<T> & AsyncGenerator {
    insistOnNamespaced(kind);
    for await (const event of client.watch(kind, options)) {
      if (event.type !== 'BOOKMARK') mark(event.object);
      yield event;
    }
  },
});

function mark({ metadata }: ApiObject): void {
  (metadata as { clusterName?: string }).clusterName = metadata.namespace ?? '';
}

function insistOnNamespaced(kind: KindNames): void {
  if (!kind.isNamespaced) throw new StatusError('Forbidden', `${kind.plural} are not namespaced`);
}
