import type { ClusterNetwork } from '@hangar/node-objects';

/** Returns the network of a virtual control plane. All of them have the same domain. */
export const clusterNetwork = (serviceCidr: string): ClusterNetwork => ({
  serviceCidrs: [serviceCidr],
  domain: 'cluster.local',
});
