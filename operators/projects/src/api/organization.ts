/** The kind Organization: the owner of projects. */

import type { ApiObject } from '@hangar/client';
import type { Condition } from '@hangar/client/kinds/meta-v1';

/**
 * An organization: owns projects, and has members with roles in them.
 *
 * @shortName org
 * @category hangar
 * @column Type string .spec.type
 * @column Projects integer .status.projects
 * @column Ready string .status.conditions[?(@.type=="Ready")].status
 * @column Message string .status.conditions[?(@.type=="Ready")].message priority 1
 * @column Age date .metadata.creationTimestamp
 * @rule "size(self.metadata.name) <= 50 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')"
 *   message "metadata.name must be a DNS label of at most 50 characters, because it is a part of the name of a namespace"
 * @rule "!(self.metadata.name in ['system', 'platform', 'hangar', 'milo', 'kubernetes', 'root']) && !self.metadata.name.startsWith('kube-') && !self.metadata.name.startsWith('system-')"
 *   message "metadata.name is reserved for the platform"
 */
export interface Organization extends ApiObject {
  /**
   * Desired state.
   *
   * @default {}
   */
  spec: OrganizationSpec;
  /** Observed state. */
  status?: OrganizationStatus;
}

export type OrganizationType = 'Personal' | 'Standard';

export interface OrganizationSpec {
  /**
   * Personal: the organization of one user. Standard: the organization of a team. Immutable.
   *
   * @default Standard
   * @rule "self == oldSelf" message "spec.type is immutable"
   */
  type?: OrganizationType;
  /** ControlPlaneClass of the control planes of the projects. If unset, they have no class. */
  controlPlaneClassRef?: ClassReference;
  /**
   * Maximum number of projects with a control plane. Existing projects keep their control plane when it is lowered.
   *
   * @default 100
   * @format int32
   * @minimum 0
   * @maximum 10000
   */
  projectsMax?: number;
}

/** A ControlPlaneClass. */
export interface ClassReference {
  /**
   * Name of the ControlPlaneClass.
   *
   * @minLength 1
   * @maxLength 253
   */
  name: string;
}

export interface OrganizationStatus {
  /** Namespace of the OrganizationMemberships. */
  namespace?: string;
  /**
   * Number of projects of the organization.
   *
   * @format int32
   */
  projects?: number;
  /**
   * The metadata.generation that this status was computed from.
   *
   * @format int64
   */
  observedGeneration?: number;
  /**
   * Conditions: Ready.
   *
   * @listType map
   * @listMapKey type
   */
  conditions?: Condition[];
}
