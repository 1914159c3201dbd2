/** The networks of a control plane. */

import { nthAddress } from './addresses.ts';

export interface ClusterNetwork {
  /** Networks of the cluster IPs of Services. The first one has the address of DNS. */
  readonly serviceCidrs: readonly string[];
  /** Networks of pods. Absent: not known. */
  readonly podCidrs?: readonly string[];
  /** Domain of the names of Services. */
  readonly domain: string;
}

/** Returns the cluster IP of the DNS Service, by the convention of kubeadm: the tenth address of the network of Services. */
export const dnsAddress = ({ serviceCidrs }: Pick<ClusterNetwork, 'serviceCidrs'>): string =>
  nthAddress(serviceCidrs[0]!, 10);
