/** The kind ControlPlaneEndpoint: the addresses of a control plane, wished (spec) and seen (status). See ../endpoint/README.md. */

import type { ApiObject } from '@hangar/client';
import type { Condition } from './condition.ts';
import type { ControllerManagerReference } from './references.ts';

/**
 * The addresses of a control plane. An address in the status takes precedence over the same address in the spec.
 *
 * @shortName cpe
 * @category kplane
 * @column Endpoint string .status.endpoint
 * @column External string .status.externalEndpoint
 * @column Join string .status.joinEndpoint priority 1
 * @column Ready string .status.conditions[?(@.type=="Ready")].status
 * @column Age date .metadata.creationTimestamp
 */
export interface ControlPlaneEndpoint extends ApiObject {
  /**
   * Desired state: addresses that are known in advance.
   *
   * @default {}
   */
  spec: ControlPlaneEndpointSpec;
  /** Observed state: addresses that a provider has set. */
  status?: ControlPlaneEndpointStatus;
}

export interface ControlPlaneEndpointSpec {
  /**
   * HTTPS URL for components of the platform. The cluster path is appended unless the URL already ends with it.
   *
   * @maxLength 2048
   * @pattern ^https://([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[^?#\s]*)?$
   */
  endpoint?: string;
  /**
   * HTTPS URL for users. Defaults to endpoint.
   *
   * @maxLength 2048
   * @pattern ^https://([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[^?#\s]*)?$
   */
  externalEndpoint?: string;
  /**
   * HTTPS URL for nodes that join. Defaults to externalEndpoint, or else to endpoint.
   *
   * @maxLength 2048
   * @pattern ^https://([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[^?#\s]*)?$
   */
  joinEndpoint?: string;
}

export interface ControlPlaneEndpointStatus {
  /**
   * HTTPS URL for components of the platform. Empty until the provider has set it.
   *
   * @maxLength 2048
   * @pattern ^(https://([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[^?#\s]*)?)?$
   */
  endpoint?: string;
  /**
   * HTTPS URL for users.
   *
   * @maxLength 2048
   * @pattern ^(https://([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[^?#\s]*)?)?$
   */
  externalEndpoint?: string;
  /**
   * HTTPS URL for nodes that join.
   *
   * @maxLength 2048
   * @pattern ^(https://([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[^?#\s]*)?)?$
   */
  joinEndpoint?: string;
  /**
   * The metadata.generation that this status was computed from.
   *
   * @format int64
   */
  observedGeneration?: number;
  /** The controller manager that runs the services. The conditions of the services become Unknown when it no longer renews its Leases. */
  controllerManager?: ControllerManagerReference;
  /**
   * Conditions: Accepted, Programmed, Ready, and one for each service.
   *
   * @listType map
   * @listMapKey type
   */
  conditions?: Condition[];
}
