/** Which object asks for a service of a cluster, and carries its condition. */

import type { FleetCluster, Service, SourceObject } from '../contract.ts';

export const sourceOf = (cluster: FleetCluster, service: Service): SourceObject =>
  cluster.sources?.get(service) ?? cluster.source;
