/**
 * The kind ControlPlane: a whole Kubernetes API that somebody asked for.
 *
 * Modes: Virtual and Dedicated may be exchanged in both directions, which is a migration (`status.migration`). What a mode needs goes
 * with it in the same write: `dedicated` is there exactly while the mode is Dedicated. The path is the identity of the data and stays
 * the same through every migration.
 */

import type { ApiObject } from '@hangar/client';
import type { Condition } from './condition.ts';
import type { NameReference, SecretReference, TypedReference } from './references.ts';

/**
 * A control plane: a whole Kubernetes API of its own.
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
 *   message "the name is the path unless spec.virtual.clusterPath says another: it must be a DNS label of at most 63 characters"
 * @rule "(has(self.spec.virtual) && has(self.spec.virtual.clusterPath)) || self.metadata.name != 'root'"
 *   message "root is the management plane: spec.virtual.clusterPath must say another path"
 * @rule "(has(self.spec.virtual) && has(self.spec.virtual.clusterPath) ? self.spec.virtual.clusterPath : self.metadata.name) ==
 *     (has(oldSelf.spec.virtual) && has(oldSelf.spec.virtual.clusterPath) ? oldSelf.spec.virtual.clusterPath : oldSelf.metadata.name)"
 *   message "the path cannot be changed: spec.virtual.clusterPath, or the name in its place, is where the data is"
 */
export interface ControlPlane extends ApiObject {
  /**
   * What is asked for.
   *
   * @default { "mode": "Virtual" }
   */
  spec: ControlPlaneSpec;
  /** What there is. */
  status?: ControlPlaneStatus;
}

export type ControlPlaneMode = 'Virtual' | 'Dedicated';
export type DeletionPolicy = 'Retain' | 'Destroy';
export type ControlPlanePhase = 'Provisioning' | 'Ready' | 'Suspended' | 'Migrating' | 'Failed' | 'Deleting';

/**
 * @rule "self.mode != 'Dedicated' || has(self.dedicated)" message "mode Dedicated needs dedicated"
 * @rule "self.mode == 'Dedicated' || !has(self.dedicated)" message "dedicated is only for mode Dedicated"
 * @rule "!(has(self.endpointRef) && has(self.endpointPolicy))" message "endpointRef and endpointPolicy exclude each other"
 */
export interface ControlPlaneSpec {
  /** The class, with the defaults of the platform. Absent: none. */
  classRef?: NameReference;
  /**
   * Virtual: a tenant of the shared API server. Dedicated: processes of its own.
   *
   * @default Virtual
   */
  mode?: ControlPlaneMode;
  /** The endpoint under which it is reached. Absent: one is allocated. */
  endpointRef?: NameReference;
  /** How an endpoint is allocated. Absent: by the class, or else by path at the platform's own address. */
  endpointPolicy?: EndpointPolicy;
  /** What becomes of the data when the control plane is deleted. Absent: what the class says, or else Retain. */
  deletionPolicy?: DeletionPolicy;
  /** Of mode Virtual. Stays there in mode Dedicated: the data keeps its path. */
  virtual?: VirtualSpec;
  /** Of mode Dedicated. */
  dedicated?: DedicatedSpec;
}

/**
 * How an endpoint is allocated.
 *
 * @rule "!(has(self.hostname) && has(self.hostnameTemplate))" message "hostname and hostnameTemplate exclude each other"
 */
export interface EndpointPolicy {
  /**
   * Who allocates: the value of the label controlplane.kplane.dev/endpoint-provider.
   *
   * @default hangar
   * @maxLength 63
   * @pattern ^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$
   */
  provider?: string;
  /**
   * The host name under which the control plane is reached besides its path.
   *
   * @maxLength 253
   * @pattern ^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$
   */
  hostname?: string;
  /**
   * The same with {name} and {path} in it. Absent: the class's.
   *
   * @maxLength 253
   * @pattern ^([-a-z0-9.]|\{name\}|\{path\})+$
   */
  hostnameTemplate?: string;
}

export interface VirtualSpec {
  /**
   * Where the control plane is: /clusters/<path>/control-plane. Absent: its name. It cannot be changed.
   *
   * @minLength 1
   * @maxLength 63
   * @pattern ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$
   * @rule "self != 'root'" message "root is the management plane"
   */
  clusterPath?: string;
}

export interface DedicatedSpec {
  /** Who runs it. Absent: the platform's default. */
  providerRef?: TypedReference;
  /** With which parameters. */
  parametersRef?: TypedReference;
}

export interface ControlPlaneStatus {
  /** Where it is reached from inside the platform. */
  endpoint?: string;
  /**
   * Where it is reached, by whom.
   *
   * @listType map
   * @listMapKey type
   */
  endpoints?: ControlPlaneAddress[];
  /** The Secret with the kubeconfigs: kubeconfig (internal) and kubeconfig-external. */
  kubeconfigSecretRef?: SecretReference;
  /** Summary for people; programs read the conditions. */
  phase?: ControlPlanePhase;
  /** The migration between modes, the last one or the one that is under way. */
  migration?: MigrationStatus;
  /**
   * The generation that this status is about.
   *
   * @format int64
   */
  observedGeneration?: number;
  /**
   * Accepted, Programmed, Ready; AddonsApplied, GatewayProgrammed where the class has addons, a Gateway.
   *
   * @listType map
   * @listMapKey type
   */
  conditions?: Condition[];
}

export type AddressKind = 'Internal' | 'External' | 'Join';

export interface ControlPlaneAddress {
  /** Internal: for the platform's own. External: for users. Join: for nodes. */
  type: AddressKind;
  /** The whole address, with the path. */
  url: string;
}

export interface MigrationStatus {
  /** The mode before. */
  from: ControlPlaneMode;
  /** The mode after. */
  to: ControlPlaneMode;
  /** What is being done. */
  step?: string;
  /**
   * When it began.
   *
   * @format date-time
   */
  startedAt?: string;
  /**
   * When it was finished.
   *
   * @format date-time
   */
  completedAt?: string;
  /** For people. */
  message?: string;
}
