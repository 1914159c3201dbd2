/** The kind ControlPlaneClass: what a platform team decides for many control planes at once. */

import type { ApiObject } from '@hangar/client';
import type { Condition } from './condition.ts';
import type { ControlPlaneMode, DeletionPolicy } from './control-plane.ts';
import type { RegistrationMode } from './control-plane-registration.ts';

/**
 * What control planes of this class have in common.
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
   * What is decided.
   *
   * @default {}
   */
  spec: ControlPlaneClassSpec;
  /** Whether it can be had. */
  status?: ControlPlaneClassStatus;
}

export interface ControlPlaneClassSpec {
  /**
   * Bundles of manifests that are applied into each control plane and kept up to date: starter, or what ConfigMaps with the label
   * controlplane.kplane.dev/addon in namespace kplane-system hold.
   *
   * @listType set
   * @maxItems 64
   * @items.minLength 1
   * @items.maxLength 63
   * @items.pattern ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$
   */
  addons?: string[];
  /** For control planes that do not say it themselves. Absent: Retain. */
  deletionPolicy?: DeletionPolicy;
  /** Who the administrator is. */
  auth?: ClassAuth;
  /**
   * Modes that control planes of this class may have. Absent or empty: all.
   *
   * @listType set
   * @maxItems 2
   */
  modesAllowed?: ControlPlaneMode[];
  /** How control planes are reached by host name. */
  gateway?: ClassGateway;
  /** The registration that each control plane gets. */
  registration?: ClassRegistration;
}

export interface ClassAuth {
  /**
   * How the administrator proves who it is. certificate: a client certificate of the control plane's own authority. token: a
   * token of a ServiceAccount; v0 and basic mean the same. Absent: certificate.
   *
   * @minLength 1
   * @maxLength 63
   */
  model?: string;
  /**
   * The ClusterRole that the administrator has. Absent: cluster-admin.
   *
   * @minLength 1
   * @maxLength 253
   */
  defaultRole?: string;
}

export interface ClassGateway {
  /**
   * The Gateway that routes are attached to: each control plane with a host name gets a TLSRoute, which the condition GatewayProgrammed
   * tells of. Absent: no routes.
   */
  parentRef?: GatewayReference;
  /**
   * The host name of a control plane, with {name} and {path} in it. Only names in its domain, which is what follows them from the first
   * dot on, are routed; without a template all are, unless the listeners of the Gateway limit them.
   *
   * @maxLength 253
   * @pattern ^([-a-z0-9.]|\{name\}|\{path\})+$
   */
  hostnameTemplate?: string;
  /** The Service of the shared API server that routes lead to. Needed with parentRef. */
  apiServerRef?: ServiceReference;
}

export interface GatewayReference {
  /**
   * Its name.
   *
   * @minLength 1
   * @maxLength 253
   */
  name: string;
  /**
   * Its namespace.
   *
   * @minLength 1
   * @maxLength 63
   */
  namespace: string;
}

export interface ServiceReference {
  /**
   * Its name.
   *
   * @minLength 1
   * @maxLength 63
   */
  name: string;
  /**
   * Its namespace, where the routes are, too. Absent: that of the Gateway.
   *
   * @minLength 1
   * @maxLength 63
   */
  namespace?: string;
  /**
   * Its port. Absent: 6443.
   *
   * @format int32
   * @minimum 1
   * @maximum 65535
   */
  port?: number;
}

export interface ClassRegistration {
  /**
   * Whether each control plane gets a ControlPlaneRegistration of its name.
   *
   * @default false
   */
  enabled?: boolean;
  /**
   * The services that it is registered for, such as controllers, scheduler or workloads.
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

export interface ControlPlaneClassStatus {
  /**
   * The generation that this status is about.
   *
   * @format int64
   */
  observedGeneration?: number;
  /**
   * Accepted.
   *
   * @listType map
   * @listMapKey type
   */
  conditions?: Condition[];
}
