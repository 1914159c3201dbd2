/** Settings of the front door: one address for all control planes that are exposed there. */

import type { ControlPlaneEndpoint } from '../api/index.ts';
import { endpointUrl } from '../endpoint-url.ts';
import type { DefaultExposure, Plane } from '../render/index.ts';

export interface FrontDoorSettings {
  /** Host names are below one of these domains. New control planes get a name below the first one. Not empty. */
  readonly domains: readonly string[];
  /** Port of the front door for clients. */
  readonly port: number;
  /** True: `spec.frontDoor.host` can also be a name outside of the domains. */
  readonly allowsAnyHost?: boolean | undefined;
  /** Exposure of control planes that set none. Absent: `service`. */
  readonly exposure?: DefaultExposure | undefined;
  /**
   * Address of the front door for the kubeconfig of the administrator and for the operator, if host names below the domains are not in
   * DNS. Connections then have the host name only as TLS server name.
   */
  readonly address?: ControlPlaneEndpoint | undefined;
}

/** How a client connects to an API server. */
export interface ServerAddress {
  /** URL. */
  readonly server: string;
  /** Absent: the host of the URL. */
  readonly tlsServerName?: string;
}

/** Returns the address of the API server for clients outside of the management cluster. Requires the endpoint. */
export function externalAddress(
  { exposure, endpoint }: Pick<Plane, 'exposure' | 'endpoint'>,
  settings: FrontDoorSettings | undefined,
): ServerAddress {
  if (exposure !== 'front-door' || !settings?.address) return { server: endpointUrl(endpoint!) };
  return { server: endpointUrl(settings.address), tlsServerName: endpoint!.host };
}
