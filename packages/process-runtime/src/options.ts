/** Options of `startProcessRuntime`. */

import type { Client } from '@hangar/client';
import type { Taint } from '@hangar/client/kinds/core-v1';
import type { Clock, Logger, Random } from '@hangar/core';
import type { ImageSource } from './images/resolver.ts';
import type { KubeletOptions } from './kubelet/options.ts';
import type { BackOffOptions } from './pods/back-off.ts';
import type { ContainerProcesses } from './processes/contract.ts';
import type { ClaimBinding } from './storage/claims.ts';

export interface ProcessRuntimeOptions {
  /** Of the management plane. The caller closes it. `rbac.ts` has the required rights. */
  readonly client: Client;
  readonly nodeName: string;
  /** Journal, volumes, logs and claims. Absolute. One runtime at a time. */
  readonly folder: string;
  /** Where programs of images are found, in this order. */
  readonly images: readonly ImageSource[];
  readonly log: Logger;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  /** Absent: real processes under the keeper. */
  readonly processes?: ContainerProcesses | undefined;
  /**
   * `namespace`: volumes are mounted at their paths in a mount namespace per container. `rewrite`: paths in commands, arguments and
   * variables are replaced. Absent: `namespace` if the machine permits it.
   */
  readonly mounts?: 'namespace' | 'rewrite' | undefined;
  /** Address of the node. Absent: 127.0.0.1. */
  readonly hostIP?: string | undefined;
  /**
   * Addresses of this machine that other machines reach. NodePorts and host ports listen on them, too, and the node publishes them as
   * ExternalIP. An address can be added to the machine later.
   */
  readonly externalAddresses?: readonly string[] | undefined;
  /**
   * Addresses of LoadBalancer Services: `10.77.3.1`, or a network of addresses of this machine, `10.99.0.0/28`. Services with different
   * ports share an address. Absent: Services in namespaces with pods of this node publish their addresses of 127.0.0.0/8.
   */
  readonly loadBalancerAddresses?: readonly string[] | undefined;
  /** Networks of 127.0.0.0/8. Absent: derived from the folder, so that runtimes of one machine differ. */
  readonly podNetwork?: string | undefined;
  readonly serviceNetwork?: string | undefined;
  /**
   * When claims of the StorageClass are bound. `Immediate`: when they are created, for a cluster in which all pods with claims run on this
   * node; saves a second and more per StatefulSet. Absent: WaitForFirstConsumer.
   */
  readonly claimBinding?: ClaimBinding | undefined;
  /** Forwards connections to Services in namespaces with pods of this node. Absent: true. */
  readonly isForwarding?: boolean | undefined;
  /** The API server as pods reach it, for the variables KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. */
  readonly apiServer?: { readonly host: string; readonly port: number } | undefined;
  /** Time in which a restarted runtime can adopt the programs of its predecessor. Absent: 60 s. */
  readonly adoptionMs?: number | undefined;
  /** Absent: the restart back-off of the kubelet. */
  readonly backOff?: BackOffOptions | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Absent: the taint `hangar.dev/runtime=process:NoSchedule`. */
  readonly taints?: readonly Taint[] | undefined;
  /** Absent: the resources of the machine. */
  readonly capacity?: Readonly<Record<string, string>> | undefined;
  readonly leaseSeconds?: number | undefined;
  /** The kubelet API for logs and exec. Absent: none. */
  readonly kubelet?: KubeletOptions | undefined;
  readonly logBytesMax?: number | undefined;
  readonly logFilesMax?: number | undefined;
}
