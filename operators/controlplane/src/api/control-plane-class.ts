/** The kind ControlPlaneClass: what a platform team decides for many control planes at once. */

import type { ApiObject } from '@hangar/client';
import type { AuthenticationSpec } from '@hangar/client/authentication-configuration';
import type { Condition } from './condition.ts';
import type { DedicatedSpec } from './dedicated.ts';
import type { NodesSpec } from './nodes.ts';
import type { PromotionSpec } from './promotion.ts';
import type { ControlPlaneMode, DeletionPolicy } from './control-plane.ts';
import type { RegistrationMode } from './control-plane-registration.ts';

/**
 * A class of control planes, with their common settings.
 *
 * @shortName cpc
 * @category kplane
 * @column Deletion string .spec.deletionPolicy
 * @column Addons string .spec.addons
 * @column Accepted string .status.conditions[?(@.type=="Accepted")].status
 * @column Age date .metadata.creationTimestamp
 */
export interface ControlPlaneClass extends ApiObject {
  /**
   * Desired state.
   *
   * @default {}
   */
  spec: ControlPlaneClassSpec;
  /** Observed state. */
  status?: ControlPlaneClassStatus;
}

/**
 * @rule "!has(self.promotion) || !has(self.modesAllowed) || size(self.modesAllowed) != 1"
 *   message "spec.promotion requires that spec.modesAllowed allows both modes"
 */
export interface ControlPlaneClassSpec {
  /**
   * Bundles of manifests that the operator applies to each control plane and keeps up to date: starter, coredns, kube-proxy,
   * konnectivity-agent, or the bundles in ConfigMaps with the label controlplane.kplane.dev/addon in namespace kplane-system. coredns,
   * kube-proxy and konnectivity-agent require nodes and their image in spec.images.
   *
   * @listType set
   * @maxItems 64
   * @items.minLength 1
   * @items.maxLength 63
   * @items.pattern ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$
   */
  addons?: string[];
  /** Images of the addons coredns, kube-proxy and konnectivity-agent. */
  images?: ClassImages;
  /** Settings of the addon kube-proxy. */
  kubeProxy?: KubeProxySettings;
  /** Deletion policy of control planes that do not set spec.deletionPolicy. Defaults to Retain. */
  deletionPolicy?: DeletionPolicy;
  /** Credentials and role of the administrator of a control plane. */
  auth?: ClassAuth;
  /**
   * Modes that control planes of this class may use. If unset or empty, all modes are allowed.
   *
   * @listType set
   * @maxItems 2
   */
  modesAllowed?: ControlPlaneMode[];
  /** Gateway that routes host names to control planes. */
  gateway?: ClassGateway;
  /** ControlPlaneRegistration that is created for each control plane. */
  registration?: ClassRegistration;
  /** External users of control planes that do not set spec.authentication. */
  authentication?: AuthenticationSpec;
  /** Nodes of control planes that do not set spec.virtual.nodes. */
  nodes?: NodesSpec;
  /** Settings of control planes with mode Dedicated that do not set them in spec.dedicated. */
  dedicated?: DedicatedSpec;
  /** When control planes change between the modes Virtual and Dedicated. If unset, the operator does not measure them. */
  promotion?: PromotionSpec;
}

export interface ClassImages {
  /**
   * Image of CoreDNS.
   *
   * @minLength 1
   * @maxLength 512
   */
  coredns?: string;
  /**
   * Image of kube-proxy, with the program /usr/local/bin/kube-proxy.
   *
   * @minLength 1
   * @maxLength 512
   */
  kubeProxy?: string;
  /**
   * Image of konnectivity-agent, whose entry point is the agent.
   *
   * @minLength 1
   * @maxLength 512
   */
  konnectivityAgent?: string;
}

export interface KubeProxySettings {
  /**
   * How kube-proxy forwards connections to services: iptables, nftables or ipvs. The image must have the programs of the mode. If unset,
   * kube-proxy chooses its default.
   */
  mode?: 'iptables' | 'nftables' | 'ipvs';
  /** Limits of tracked connections. They are settings of the whole machine, also if the node is a container. */
  conntrack?: ConntrackSettings;
}

export interface ConntrackSettings {
  /**
   * Tracked connections for each processor. 0 keeps the limit of the machine. If unset, kube-proxy uses 32768.
   *
   * @format int32
   * @minimum 0
   */
  maxPerCore?: number;
  /**
   * Minimum of tracked connections, regardless of maxPerCore. If unset, kube-proxy uses 131072.
   *
   * @format int32
   * @minimum 0
   */
  min?: number;
}

export interface ClassAuth {
  /**
   * Credential of the administrator. certificate: a client certificate signed by the CA of the control plane. token: a ServiceAccount
   * token; v0 and basic are aliases of token. Defaults to certificate.
   *
   * @minLength 1
   * @maxLength 63
   */
  model?: string;
  /**
   * The ClusterRole that is bound to the administrator. Defaults to cluster-admin.
   *
   * @minLength 1
   * @maxLength 253
   */
  defaultRole?: string;
}

export interface ClassGateway {
  /**
   * The Gateway that routes are attached to. The operator creates a TLSRoute for each control plane with a host name, and reports it in
   * the condition GatewayProgrammed. If unset, no routes are created.
   */
  parentRef?: GatewayReference;
  /**
   * Host name of a control plane with the placeholders {name} and {path}. Only host names in the domain of the template, which is the
   * part from the first dot after the placeholders, are routed. Without a template the listeners of the Gateway limit the host names.
   *
   * @maxLength 253
   * @pattern ^([-a-z0-9.]|\{name\}|\{path\})+$
   */
  hostnameTemplate?: string;
  /** The Service of the shared API server, the backend of the routes. Required if parentRef is set. */
  apiServerRef?: ServiceReference;
}

export interface GatewayReference {
  /**
   * Name of the referenced object.
   *
   * @minLength 1
   * @maxLength 253
   */
  name: string;
  /**
   * Namespace of the referenced object.
   *
   * @minLength 1
   * @maxLength 63
   */
  namespace: string;
}

export interface ServiceReference {
  /**
   * Name of the referenced object.
   *
   * @minLength 1
   * @maxLength 63
   */
  name: string;
  /**
   * Namespace of the Service and of the routes. Defaults to the namespace of the Gateway.
   *
   * @minLength 1
   * @maxLength 63
   */
  namespace?: string;
  /**
   * Port of the Service. Defaults to 6443.
   *
   * @format int32
   * @minimum 1
   * @maximum 65535
   */
  port?: number;
}

export interface ClassRegistration {
  /**
   * Whether to create a ControlPlaneRegistration with the same name for each control plane.
   *
   * @default false
   */
  enabled?: boolean;
  /**
   * Services that the control plane is registered for, such as controllers, scheduler or workloads.
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

export interface ControlPlaneClassStatus {
  /**
   * The metadata.generation that this status was computed from.
   *
   * @format int64
   */
  observedGeneration?: number;
  /**
   * Conditions: Accepted.
   *
   * @listType map
   * @listMapKey type
   */
  conditions?: Condition[];
}
