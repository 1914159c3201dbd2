/** The kind HostedControlPlane: etcd, kube-apiserver, kube-controller-manager and kube-scheduler as pods of a management cluster. */

import type { ApiObject } from '@hangar/client';
import type { AuthenticationSpec } from '@hangar/client/authentication-configuration';
import type { Condition } from '@hangar/client/kinds/meta-v1';
import type { Audit } from './audit.ts';
import type { AutoscalingSpec, AutoscalingStatus } from './autoscaling.ts';
import type { ContainerSpec, Mount, PodSpec, Quantity, ScalablePodSpec } from './containers.ts';
import type { EtcdSpec } from './etcd.ts';
import type { OIDCProvider } from './oidc.ts';

/**
 * A Kubernetes control plane that runs as pods of this cluster.
 *
 * @shortName hcp
 * @category cluster-api
 * @label cluster.x-k8s.io/provider control-plane-hosted-control-plane
 * @label cluster.x-k8s.io/v1beta1 v1alpha1
 * @label cluster.x-k8s.io/v1beta2 v1alpha1
 * @scale .spec.replicas .status.replicas .status.selector
 * @column Cluster string .metadata.labels['cluster\.x-k8s\.io/cluster-name']
 * @column Initialized boolean .status.initialization.controlPlaneInitialized
 * @column Available string .status.conditions[?(@.type=="Available")].status
 * @column Desired integer .spec.replicas
 * @column Ready integer .status.readyReplicas
 * @column Updated integer .status.upToDateReplicas
 * @column EtcdSize string .status.etcdVolumeSize priority 1
 * @column EtcdUsage string .status.etcdVolumeUsage priority 1
 * @column Paused string .status.conditions[?(@.type=="Paused")].status priority 1
 * @column Version string .spec.version
 * @column Age date .metadata.creationTimestamp
 * @rule "!has(self.status) || !has(self.status.version) ||
 *     int(self.spec.version.split('.')[1]) <= int(self.status.version.split('.')[1]) + 1"
 *   message "spec.version cannot be more than one minor version ahead of status.version: wait until the current upgrade is complete"
 */
export interface HostedControlPlane extends ApiObject {
  /** Desired state. */
  spec: HostedControlPlaneSpec;
  /** Observed state. */
  status?: HostedControlPlaneStatus;
}

/**
 * A Kubernetes version, such as v1.36.4.
 *
 * @minLength 5
 * @maxLength 64
 * @pattern ^v?(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})([-+][0-9A-Za-z_.+-]*)?$
 * @rule "int(self.split('.')[0].replace('v', '')) == int(oldSelf.split('.')[0].replace('v', ''))"
 *   message "the major version cannot change"
 * @rule "int(self.split('.')[1]) <= int(oldSelf.split('.')[1]) + 1"
 *   message "minor versions cannot be skipped: upgrade one minor version at a time"
 * @rule "int(self.split('.')[1]) > int(oldSelf.split('.')[1]) ||
 *     (int(self.split('.')[1]) == int(oldSelf.split('.')[1]) &&
 *     int(self.split('.')[2].split('-')[0].split('+')[0]) >= int(oldSelf.split('.')[2].split('-')[0].split('+')[0]))"
 *   message "the version cannot be decreased"
 */
export type KubernetesVersion = string;

/**
 * @rule "has(self.gateway) == has(oldSelf.gateway)" message "spec.gateway cannot be added or removed, because the address derives from it"
 * @rule "!has(self.gateway) || !has(self.frontDoor)" message "spec.gateway and spec.frontDoor are mutually exclusive"
 * @rule "!has(self.oidcProviders) || !has(self.authentication)" message "spec.oidcProviders and spec.authentication are mutually exclusive"
 * @rule "has(self.frontDoor) == has(oldSelf.frontDoor)" message "spec.frontDoor cannot be added or removed, because the address derives from it"
 */
export interface HostedControlPlaneSpec extends HostedControlPlaneInlineSpec {
  /** Kubernetes version of the control plane, such as v1.36.4. */
  version: KubernetesVersion;
  /**
   * Number of API servers.
   *
   * @format int32
   * @minimum 1
   * @maximum 32
   * @default 2
   */
  replicas?: number;
  /** Address of the API server. Set by the operator, unless the Cluster has an address. Immutable. */
  controlPlaneEndpoint?: ControlPlaneEndpoint;
}

/**
 * The settings that a HostedControlPlaneTemplate has as well.
 *
 * @rule "!has(self.gateway) || !has(self.frontDoor)" message "spec.gateway and spec.frontDoor are mutually exclusive"
 * @rule "!has(self.oidcProviders) || !has(self.authentication)" message "spec.oidcProviders and spec.authentication are mutually exclusive"
 */
export interface HostedControlPlaneInlineSpec {
  /** Settings of the components that run as Deployments. */
  deployment?: DeploymentSpec;
  /** Gateway of the Gateway API with a TLS listener that routes to the API server. If unset, clients use a Service. */
  gateway?: GatewayReference;
  /**
   * Exposes the API server at the front door of the platform: one address for all control planes, which routes connections by their TLS
   * server name. If unset, the operator is configured with a default.
   */
  frontDoor?: FrontDoorSpec;
  /** Service of the API server. */
  service?: ServiceSpec;
  /** Konnectivity agents inside the control plane. */
  konnectivityClient?: ScalablePodSpec;
  /** kube-proxy inside the control plane. */
  kubeProxy?: KubeProxySpec;
  /** CoreDNS inside the control plane. */
  coredns?: ScalablePodSpec;
  /**
   * The etcd cluster.
   *
   * @default {}
   */
  etcd?: EtcdSpec;
  /**
   * OpenID Connect providers, by the URL of the issuer.
   *
   * @maxProperties 64
   * @rule "self.all(issuer, issuer.startsWith('https://') && size(issuer) <= 2048)" message "the URL of an issuer must start with https://"
   */
  oidcProviders?: Record<string, OIDCProvider>;
  /**
   * External users of the control plane, with all fields of an AuthenticationConfiguration. The API servers read changes of issuers without a
   * restart. Mutually exclusive with oidcProviders.
   */
  authentication?: AuthenticationSpec;
  /** Lifetimes of certificate authorities. */
  certificates?: CertificatesSpec;
  /** Changes spec.replicas by the load of the API servers. If unset, only users change it. */
  autoscaling?: AutoscalingSpec;
}

/** @rule "self == oldSelf" message "field is immutable" */
export interface ControlPlaneEndpoint {
  /**
   * Host name or IP address.
   *
   * @minLength 1
   * @maxLength 253
   */
  host: string;
  /**
   * Port.
   *
   * @format int32
   * @minimum 1
   * @maximum 65535
   */
  port: number;
}

/** @rule "self == oldSelf" message "field is immutable" */
export interface GatewayReference {
  /**
   * Namespace of the Gateway.
   *
   * @minLength 1
   * @maxLength 63
   */
  namespace: string;
  /**
   * Name of the Gateway.
   *
   * @minLength 1
   * @maxLength 253
   */
  name: string;
  /**
   * Host name of the API server. It must be below the wildcard of the listener: one label, or names that end with the namespace, such as
   * demo.team.clusters.example.com in namespace team. Defaults to <name>.<namespace>.<domain of the wildcard>.
   *
   * @minLength 1
   * @maxLength 240
   * @pattern ^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$
   */
  host?: string;
}

/** @rule "self == oldSelf" message "field is immutable" */
export interface FrontDoorSpec {
  /**
   * Host name of the API server. It must be below the domain of the front door: one label, or names that end with the namespace, such as
   * demo.team.hosted.example.com in namespace team. Defaults to <name>.<namespace>.<domain>.
   *
   * @minLength 1
   * @maxLength 240
   * @pattern ^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$
   */
  host?: string;
}

export type ServiceType = 'ClusterIP' | 'NodePort' | 'LoadBalancer';

export interface ServiceSpec {
  /** Type of the Service. Defaults to ClusterIP with a gateway or the front door, or else to the type that the operator is configured with. */
  type?: ServiceType;
  /**
   * Annotations of the Service, for example for a load balancer.
   *
   * @maxProperties 64
   */
  annotations?: Record<string, string>;
  /**
   * Class of the load balancer.
   *
   * @maxLength 253
   */
  loadBalancerClass?: string;
}

export interface DeploymentSpec {
  /** kube-apiserver. Its number of pods is spec.replicas. */
  apiServer?: APIServerSpec;
  /** kube-controller-manager. */
  controllerManager?: ScalablePodSpec;
  /** kube-scheduler. */
  scheduler?: ScalablePodSpec;
}

export interface APIServerSpec extends PodSpec {
  /**
   * ConfigMaps and Secrets as files, by the name of the volume.
   *
   * @maxProperties 32
   * @rule "self.all(name, has(self[name].configMap) != has(self[name].secret))"
   *   message "exactly one of configMap and secret must be set"
   * @rule "self.all(name, name.matches('^[a-z0-9]([-a-z0-9]{0,51}[a-z0-9])?$'))"
   *   message "the name of a mount must be a DNS label of at most 53 characters"
   */
  mounts?: Record<string, Mount>;
  /** Container of the konnectivity server beside the API server. */
  konnectivity?: ContainerSpec;
  /** Audit policy and webhook. If unset, no events are recorded. */
  audit?: Audit;
}

export interface KubeProxySpec extends PodSpec {
  /** Whether kube-proxy is not installed. Defaults to false. */
  disabled?: boolean;
}

/** @rule "!has(self.rootCaCertificateDuration) || !has(self.caCertificateDuration) ||
 *     duration(self.rootCaCertificateDuration) >= duration(self.caCertificateDuration)"
 *   message "rootCaCertificateDuration must be greater than or equal to caCertificateDuration"
 */
export interface CertificatesSpec {
  /** Lifetime of the authority of the control plane, such as 87600h. Defaults to 87600h, which is 10 years. */
  rootCaCertificateDuration?: CertificateDuration;
  /** Lifetime of the authorities of etcd and of the front proxy. Defaults to 87600h, which is 10 years. */
  caCertificateDuration?: CertificateDuration;
  /**
   * Issuer of the certificates of the components. CertManager: Issuers and Certificates of cert-manager, which must be installed. Defaults
   * to BuiltIn, unless the operator is configured with another default.
   */
  issuer?: CertificateIssuer;
  /**
   * How long the previous authority of the control plane, or the previous key of service accounts, stays trusted after a rotation. Defaults
   * to 8760h: certificates of nodes and tokens expire within one year.
   *
   * @maxLength 32
   * @pattern ^([0-9]{1,7}(h|m|s))+$
   */
  overlapDuration?: string;
}

/** @rule "self == oldSelf" message "field is immutable" */
export type CertificateIssuer = 'BuiltIn' | 'CertManager';

/**
 * @maxLength 32
 * @pattern ^([0-9]{1,7}(h|m|s))+$
 * @rule "duration(self) >= duration('1h')" message "must be at least 1h"
 */
export type CertificateDuration = string;

export interface HostedControlPlaneStatus {
  /** Label selector of the pods of the API server. */
  selector?: string;
  /**
   * Number of pods of the API server.
   *
   * @format int32
   */
  replicas?: number;
  /**
   * Number of ready pods of the API server.
   *
   * @format int32
   */
  readyReplicas?: number;
  /**
   * Number of available pods of the API server.
   *
   * @format int32
   */
  availableReplicas?: number;
  /**
   * Number of pods of the API server that have the desired state.
   *
   * @format int32
   */
  upToDateReplicas?: number;
  /**
   * upToDateReplicas for the contract v1beta1 of Cluster API.
   *
   * @format int32
   */
  updatedReplicas?: number;
  /**
   * Number of unavailable pods, for the contract v1beta1 of Cluster API.
   *
   * @format int32
   */
  unavailableReplicas?: number;
  /** Progress of the initialization. */
  initialization?: InitializationStatus;
  /** initialization.controlPlaneInitialized for the contract v1beta1 of Cluster API. */
  initialized?: boolean;
  /** Whether the API server can receive requests, for the contract v1beta1 of Cluster API. */
  ready?: boolean;
  /** Version that all components have. It changes when a roll-out is complete. */
  version?: string;
  /** Version of the rendering that all objects have. It changes when its roll-out is complete. */
  rendering?: string;
  /** True: no Machine represents the control plane. */
  externalManagedControlPlane?: boolean;
  /** Route of the front door. Set while the host name belongs to this control plane. */
  frontDoor?: FrontDoorStatus;
  /** Size of the volume of each etcd member. */
  etcdVolumeSize?: Quantity;
  /** Largest amount of space that an etcd member uses. */
  etcdVolumeUsage?: Quantity;
  /**
   * Time of the last snapshot of etcd.
   *
   * @format date-time
   */
  etcdLastBackupTime?: string;
  /**
   * Time of the next snapshot of etcd.
   *
   * @format date-time
   */
  etcdNextBackupTime?: string;
  /**
   * Time of the last defragmentation of etcd.
   *
   * @format date-time
   */
  etcdLastDefragTime?: string;
  /**
   * Members of etcd, in the order of their pods. Sizes are written when they differ by more than 5 % and 16Mi.
   *
   * @listType map
   * @listMapKey name
   */
  etcdMembers?: EtcdMemberStatus[];
  /** The autoscaler. */
  autoscaling?: AutoscalingStatus;
  /**
   * The metadata.generation that this status was computed from.
   *
   * @format int64
   */
  observedGeneration?: number;
  /**
   * Conditions: one for each phase, in order, then Ready, and those of the contract of Cluster API: Available, RollingOut, ScalingUp,
   * ScalingDown, Paused. CertificatesRotating is true while an authority or the key of service accounts is rotated. AutoscalingActive is
   * true while the autoscaler has measurements of all API servers. EtcdBackupScheduled exists with spec.etcd.backup.
   *
   * @listType map
   * @listMapKey type
   */
  conditions?: Condition[];
}

export interface EtcdMemberStatus {
  /** Name of the pod. */
  name: string;
  /** ID of the member in hexadecimal. Absent: the pod is not a member yet. */
  id?: string;
  /** Role of the member. A learner has no vote. Unknown: etcd has no quorum, or cannot be reached. */
  role: EtcdMemberRole;
  /** Whether the member responds and has a leader. */
  healthy: boolean;
  /** Version of etcd. */
  version?: string;
  /** Size of the database. */
  dbSize?: Quantity;
  /**
   * Revision of the data of the member. Only while etcd has no quorum, for the choice of the member to recover from.
   *
   * @format int64
   */
  revision?: number;
}

export type EtcdMemberRole = 'Leader' | 'Follower' | 'Learner' | 'NotMember' | 'Unknown';

export interface FrontDoorStatus {
  /** Host name that the front door routes to the API server. */
  host: string;
}

export interface InitializationStatus {
  /** Whether the API server accepted requests once. It stays true. */
  controlPlaneInitialized?: boolean;
}
