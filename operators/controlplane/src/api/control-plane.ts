/**
 * The kind ControlPlane: a complete Kubernetes API.
 *
 * The field `dedicated` is set only while the mode is Dedicated. The cluster path identifies the data of a virtual control plane. The
 * definition allows a change of the mode, which starts a migration (`migration.ts`).
 */

import type { ApiObject } from '@hangar/client';
import type { AuthenticationSpec } from '@hangar/client/authentication-configuration';
import type { Condition } from './condition.ts';
import type { DedicatedSpec } from './dedicated.ts';
import type { MigrationSpec, MigrationStatus } from './migration.ts';
import type { NodesSpec } from './nodes.ts';
import type { NameReference, SecretReference } from './references.ts';

/**
 * A Kubernetes control plane: a complete Kubernetes API.
 *
 * @shortName cp
 * @category kplane
 * @column Mode string .spec.mode
 * @column Endpoint string .status.endpoint priority 1
 * @column Ready string .status.conditions[?(@.type=="Ready")].status
 * @column Phase string .status.phase
 * @column Age date .metadata.creationTimestamp
 * @rule "(has(self.spec.virtual) && has(self.spec.virtual.clusterPath)) ||
 *     (size(self.metadata.name) <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'))"
 *   message "metadata.name must be a DNS label of at most 63 characters unless spec.virtual.clusterPath is set, because it is the cluster path"
 * @rule "(has(self.spec.virtual) && has(self.spec.virtual.clusterPath)) || self.metadata.name != 'root'"
 *   message "the cluster path root is reserved for the management plane: set spec.virtual.clusterPath"
 * @rule "(has(self.spec.virtual) && has(self.spec.virtual.clusterPath) ? self.spec.virtual.clusterPath : self.metadata.name) ==
 *     (has(oldSelf.spec.virtual) && has(oldSelf.spec.virtual.clusterPath) ? oldSelf.spec.virtual.clusterPath : oldSelf.metadata.name)"
 *   message "the cluster path is immutable: spec.virtual.clusterPath, or metadata.name if it is not set, is the location of the data"
 */
export interface ControlPlane extends ApiObject {
  /**
   * Desired state.
   *
   * @default { "mode": "Virtual" }
   */
  spec: ControlPlaneSpec;
  /** Observed state. */
  status?: ControlPlaneStatus;
}

export type ControlPlaneMode = 'Virtual' | 'Dedicated';
export type DeletionPolicy = 'Retain' | 'Destroy';
export type RetainedDataPolicy = 'Adopt' | 'Refuse';
export type ControlPlanePhase = 'Provisioning' | 'Ready' | 'Suspended' | 'Migrating' | 'Failed' | 'Deleting';

/**
 * @rule "self.mode == 'Dedicated' || !has(self.dedicated)" message "spec.dedicated must not be set unless spec.mode is Dedicated"
 * @rule "!(has(self.endpointRef) && has(self.endpointPolicy))" message "spec.endpointRef and spec.endpointPolicy are mutually exclusive"
 */
export interface ControlPlaneSpec {
  /** Reference to a ControlPlaneClass with defaults. If unset, the control plane has no class. */
  classRef?: NameReference;
  /**
   * Virtual: a tenant of the shared API server. Dedicated: a separate etcd and kube-apiserver, as a HostedControlPlane. A change of the mode
   * of an existing control plane starts a migration, which keeps its data, addresses and credentials. Setting the mode back before the switch
   * aborts the migration; setting it back later starts another one.
   *
   * @default Virtual
   */
  mode?: ControlPlaneMode;
  /**
   * Reference to the ControlPlaneEndpoint with the addresses of the control plane. If unset, an endpoint is allocated. In mode
   * Dedicated, its addresses must have the same host and port and no path, must lead to the Service of the HostedControlPlane, and cannot
   * change.
   */
  endpointRef?: NameReference;
  /** Defines how an endpoint is allocated. Defaults to the policy of the class, or else to the cluster path at the address of the platform. */
  endpointPolicy?: EndpointPolicy;
  /**
   * Whether the data is kept (Retain) or deleted (Destroy) when the control plane is deleted. Defaults to the policy of the class, or else to
   * Retain. Retained data of mode Dedicated is the stopped HostedControlPlane with its volumes.
   */
  deletionPolicy?: DeletionPolicy;
  /**
   * Handling of data that a deleted control plane with the same cluster path retained. Adopt: the new control plane has this data, and the
   * credentials of the deleted one are valid again. Refuse: the control plane is not created until the data is destroyed. Defaults to Adopt.
   */
  retainedData?: RetainedDataPolicy;
  /**
   * External users of the control plane, in both modes. User names and groups that start with system: are rejected. A field that is not set
   * has the value of the class.
   */
  authentication?: AuthenticationSpec;
  /** Settings of mode Virtual. They are kept in mode Dedicated, because the data keeps its cluster path. */
  virtual?: VirtualSpec;
  /** Settings of mode Dedicated. A field that is not set has the value of the class. */
  dedicated?: DedicatedSpec;
  /** Settings of migrations between the modes. */
  migration?: MigrationSpec;
}

/**
 * Defines how an endpoint is allocated.
 *
 * @rule "!(has(self.hostname) && has(self.hostnameTemplate))" message "hostname and hostnameTemplate are mutually exclusive"
 */
export interface EndpointPolicy {
  /**
   * Name of the endpoint provider: the value of the label controlplane.kplane.dev/endpoint-provider.
   *
   * @default hangar
   * @maxLength 63
   * @pattern ^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$
   */
  provider?: string;
  /**
   * Host name that serves the control plane, in addition to its cluster path. In mode Dedicated, it is the host name at the Gateway of the
   * class, or else at the front door.
   *
   * @maxLength 253
   * @pattern ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$
   */
  hostname?: string;
  /**
   * Host name with the placeholders {name} and {path}. Defaults to the template of the class.
   *
   * @maxLength 253
   * @pattern ^([-a-z0-9.]|\{name\}|\{path\})+$
   */
  hostnameTemplate?: string;
}

export interface VirtualSpec {
  /**
   * Cluster path: the control plane is served at /clusters/<path>/control-plane. Defaults to metadata.name. Immutable.
   *
   * @minLength 1
   * @maxLength 63
   * @pattern ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$
   * @rule "self != 'root'" message "the cluster path root is reserved for the management plane"
   */
  clusterPath?: string;
  /** Nodes of the control plane. A field that is not set has the value of the class. */
  nodes?: NodesSpec;
}

export interface ControlPlaneStatus {
  /** URL of the control plane inside the platform network. */
  endpoint?: string;
  /**
   * URLs of the control plane, one for each type of client.
   *
   * @listType map
   * @listMapKey type
   */
  endpoints?: ControlPlaneAddress[];
  /** Reference to the Secret with the kubeconfigs, under the keys kubeconfig (internal) and kubeconfig-external. */
  kubeconfigSecretRef?: SecretReference;
  /** Summary of the state, for display. Clients should read the conditions. */
  phase?: ControlPlanePhase;
  /** The current or most recent migration between modes. */
  migration?: MigrationStatus;
  /**
   * The metadata.generation that this status was computed from.
   *
   * @format int64
   */
  observedGeneration?: number;
  /**
   * Conditions: Accepted, Programmed and Ready; AddonsApplied if the class has addons; GatewayProgrammed if it has a Gateway;
   * NodesReachable while the port for nodes cannot be opened; HostedControlPlaneReady in mode Dedicated, and EndpointApplied while its
   * address cannot change to the desired one; PromotionRecommended or ReturnRecommended while spec.promotion of the class recommends the
   * other mode.
   *
   * @listType map
   * @listMapKey type
   */
  conditions?: Condition[];
}

export type AddressKind = 'Internal' | 'External' | 'Join';

export interface ControlPlaneAddress {
  /** Internal: for components of the platform. External: for users. Join: for nodes. */
  type: AddressKind;
  /** URL with the cluster path. */
  url: string;
}
