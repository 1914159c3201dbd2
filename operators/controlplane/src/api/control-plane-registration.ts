/** The kind ControlPlaneRegistration: a control plane attached to services. See ../registration/README.md. */

import type { ApiObject } from '@hangar/client';
import type { Condition } from './condition.ts';
import type { ControllerManagerReference, NameReference, SecretReference } from './references.ts';

/**
 * Registers a control plane for services that run against it.
 *
 * @shortName cpr
 * @category kplane
 * @column ControlPlane string .spec.controlPlaneRef.name
 * @column Services string .spec.services
 * @column Endpoint string .status.resolvedEndpoint priority 1
 * @column Ready string .status.conditions[?(@.type=="Ready")].status
 * @column Age date .metadata.creationTimestamp
 */
export interface ControlPlaneRegistration extends ApiObject {
  /** Desired state. */
  spec: ControlPlaneRegistrationSpec;
  /** Observed state. */
  status?: ControlPlaneRegistrationStatus;
}

export type RegistrationMode = 'Shared' | 'Dedicated';

export interface ControlPlaneRegistrationSpec {
  /** Reference to the ControlPlane. */
  controlPlaneRef: NameReference;
  /** Reference to the ControlPlaneEndpoint that services use. Defaults to the endpoint of the control plane. */
  endpointRef?: NameReference;
  /** Reference to the Secret with the kubeconfig that services use. Defaults to the Secret of the control plane. */
  kubeconfigSecretRef?: SecretReference;
  /**
   * Services that the control plane is registered for, such as controllers, scheduler or workloads. The operator converts the names to lower case.
   *
   * @listType set
   * @maxItems 32
   * @items.minLength 1
   * @items.maxLength 63
   * @items.pattern ^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$
   */
  services?: string[];
  /**
   * Shared: one instance of a service serves many control planes. Dedicated: a separate instance serves this control plane.
   *
   * @default Shared
   */
  mode?: RegistrationMode;
}

export interface ControlPlaneRegistrationStatus {
  /** Whether services can use the control plane: the endpoint and the kubeconfig are resolved and consistent. */
  ready?: boolean;
  /** URL of the control plane, equal to the server in the kubeconfig. */
  resolvedEndpoint?: string;
  /** Reference to the Secret with the kubeconfig, under the key kubeconfig. */
  resolvedKubeconfigSecretRef?: SecretReference;
  /**
   * The metadata.generation that this status was computed from.
   *
   * @format int64
   */
  observedGeneration?: number;
  /** The controller manager that runs the services. The conditions of the services become Unknown when it no longer renews its Leases. */
  controllerManager?: ControllerManagerReference;
  /**
   * Conditions: Ready, and one for each service.
   *
   * @listType map
   * @listMapKey type
   */
  conditions?: Condition[];
}
