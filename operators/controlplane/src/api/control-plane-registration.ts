/** The kind ControlPlaneRegistration: a control plane attached to services. See ../registration/README.md. */

import type { ApiObject } from '@hangar/client';
import type { Condition } from './condition.ts';
import type { ControllerManagerReference, NameReference, SecretReference } from './references.ts';

/**
 * A control plane, registered for services that work on it.
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
  /** What is registered for what. */
  spec: ControlPlaneRegistrationSpec;
  /** How services reach it. */
  status?: ControlPlaneRegistrationStatus;
}

export type RegistrationMode = 'Shared' | 'Dedicated';

export interface ControlPlaneRegistrationSpec {
  /** The control plane. */
  controlPlaneRef: NameReference;
  /** The endpoint that services use. Absent: the control plane's own. */
  endpointRef?: NameReference;
  /** The Secret with the kubeconfig that services use. Absent: the control plane's own. */
  kubeconfigSecretRef?: SecretReference;
  /**
   * What it is registered for, such as controllers, scheduler or workloads. Any case; the operator writes it in lower case.
   *
   * @listType set
   * @maxItems 32
   * @items.minLength 1
   * @items.maxLength 63
   * @items.pattern ^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$
   */
  services?: string[];
  /**
   * Shared: one instance of a service for many control planes. Dedicated: an instance of its own.
   *
   * @default Shared
   */
  mode?: RegistrationMode;
}

export interface ControlPlaneRegistrationStatus {
  /** Services may begin: everything below is there and fits together. */
  ready?: boolean;
  /** Where the control plane is. The kubeconfig in the Secret says the same. */
  resolvedEndpoint?: string;
  /** The Secret with the kubeconfig, under the key kubeconfig. */
  resolvedKubeconfigSecretRef?: SecretReference;
  /**
   * The generation that this status is about.
   *
   * @format int64
   */
  observedGeneration?: number;
  /** The controller manager that runs the services. Its conditions become Unknown when it no longer renews its Leases. */
  controllerManager?: ControllerManagerReference;
  /**
   * Ready, and what services say about themselves.
   *
   * @listType map
   * @listMapKey type
   */
  conditions?: Condition[];
}
