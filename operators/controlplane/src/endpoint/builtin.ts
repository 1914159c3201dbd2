/**
 * Computes the addresses that the built-in provider sets. Pure: the host is an address, the control plane is a path.
 *
 *     internal https://10.0.0.1:6443, path a                        endpoint          https://10.0.0.1:6443/clusters/a/control-plane
 *     external https://hangar.example                               externalEndpoint  https://hangar.example/clusters/a/control-plane
 *     the same, with host name a.hangar.example                     externalEndpoint  https://a.hangar.example
 */

import type { ControlPlaneEndpointStatus } from '../api/index.ts';
import { pathOf } from '../api/index.ts';

export interface BuiltinInput {
  /** Without a path. */
  readonly internalUrl: string;
  readonly externalUrl?: string | undefined;
  readonly clusterPath: string;
  /** Public host name of the tenant. */
  readonly hostname?: string | undefined;
}

type Addresses = Pick<ControlPlaneEndpointStatus, 'endpoint' | 'externalEndpoint' | 'joinEndpoint'>;

/** Join addresses fall back to external ones: they are the same here. */
export function builtinAddresses({ internalUrl, externalUrl, clusterPath, hostname }: BuiltinInput): Addresses {
  const below = (url: string): string => new URL(url).origin + pathOf(clusterPath);
  const outer = externalUrl ?? internalUrl;
  return {
    endpoint: below(internalUrl),
    externalEndpoint: hostname ? atHost(outer, hostname) : below(outer),
  };
}

/** Returns the URL with another host name and the same port. */
function atHost(url: string, hostname: string): string {
  const renamed = new URL(url);
  renamed.hostname = hostname;
  return renamed.origin;
}
