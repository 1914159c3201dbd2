/** Settings of mode Dedicated: in a ControlPlane, and as defaults in a ControlPlaneClass. */

import type { TypedReference } from './references.ts';

/** A field that a ControlPlane does not set has the value of its class. */
export interface DedicatedSpec {
  /**
   * Kubernetes version of the control plane, such as v1.36.4. Defaults to the newest version that the platform runs when the control plane
   * is created. It can be increased by one minor version at a time.
   *
   * @minLength 5
   * @maxLength 64
   * @pattern ^v?(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})([-+][0-9A-Za-z_.+-]*)?$
   */
  version?: string;
  /**
   * Number of API servers. Defaults to the number that the operator is configured with.
   *
   * @format int32
   * @minimum 1
   * @maximum 32
   */
  replicas?: number;
  /**
   * Reference to the provider that runs the control plane. Only the group and the kind are used: the kind must be HostedControlPlane of
   * the group controlplane.cluster.x-k8s.io, which is the default.
   */
  providerRef?: TypedReference;
  /**
   * Reference to the parameters for the provider: a HostedControlPlaneTemplate of the group controlplane.cluster.x-k8s.io in the namespace
   * kplane-system. If unset, the provider uses its defaults.
   */
  parametersRef?: TypedReference;
}
