/** The kind ControlPlaneEndpoint: the addresses of a control plane, wished (spec) and seen (status). See ../endpoint/README.md. */

import type { ApiObject } from '@hangar/client';
import type { Condition } from './condition.ts';
import type { ControllerManagerReference } from './references.ts';

/**
 * The addresses of a control plane. What the status says wins over what the spec says.
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
   * The addresses that somebody knows beforehand.
   *
   * @default {}
   */
  spec: ControlPlaneEndpointSpec;
  /** The addresses that a provider has made. */
  status?: ControlPlaneEndpointStatus;
}

export interface ControlPlaneEndpointSpec {
  /**
   * For the platform's own: an https URL. The control plane's path is appended unless it is there.
   *
   * @maxLength 2048
   * @pattern ^https://([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[^?#\s]*)?$
   */
  endpoint?: string;
  /**
   * For users: an https URL. Absent: endpoint.
   *
   * @maxLength 2048
   * @pattern ^https://([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[^?#\s]*)?$
   */
  externalEndpoint?: string;
  /**
   * For nodes that join: an https URL. Absent: externalEndpoint, or else endpoint.
   *
   * @maxLength 2048
   * @pattern ^https://([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[^?#\s]*)?$
   */
  joinEndpoint?: string;
}

export interface ControlPlaneEndpointStatus {
  /**
   * For the platform's own: an https URL, or empty while there is none.
   *
   * @maxLength 2048
   * @pattern ^(https://([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[^?#\s]*)?)?$
   */
  endpoint?: string;
  /**
   * For users.
   *
   * @maxLength 2048
   * @pattern ^(https://([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[^?#\s]*)?)?$
   */
  externalEndpoint?: string;
  /**
   * For nodes that join.
   *
   * @maxLength 2048
   * @pattern ^(https://([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[^?#\s]*)?)?$
   */
  joinEndpoint?: string;
  /**
   * The generation that this status is about.
   *
   * @format int64
   */
  observedGeneration?: number;
  /** The controller manager that runs the services. Its conditions become Unknown when it no longer renews its Leases. */
  controllerManager?: ControllerManagerReference;
  /**
   * Accepted, Programmed, Ready, and what services say about themselves.
   *
   * @listType map
   * @listMapKey type
   */
  conditions?: Condition[];
}
