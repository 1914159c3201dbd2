/** The kind OrganizationMembership: the roles of a user or of a group in the projects of an organization. */

import type { ApiObject } from '@hangar/client';
import type { Condition } from '@hangar/client/kinds/meta-v1';

/**
 * A member of an organization. It must be in the namespace of the organization.
 *
 * @shortName orgm
 * @category hangar
 * @column Organization string .spec.organizationRef.name
 * @column User string .spec.userRef.name
 * @column Group string .spec.groupRef.name
 * @column Roles string .spec.roles[*].name
 * @column Ready string .status.conditions[?(@.type=="Ready")].status
 * @column Age date .metadata.creationTimestamp
 */
export interface OrganizationMembership extends ApiObject {
  /** Desired state. */
  spec: OrganizationMembershipSpec;
  /** Observed state. */
  status?: OrganizationMembershipStatus;
}

/** @rule "has(self.userRef) != has(self.groupRef)" message "exactly one of spec.userRef and spec.groupRef must be set" */
export interface OrganizationMembershipSpec {
  /**
   * The organization. Immutable.
   *
   * @rule "self == oldSelf" message "spec.organizationRef is immutable"
   */
  organizationRef: OrganizationReference;
  /** The user. */
  userRef?: SubjectReference;
  /** The group, for example a group of an OpenID Connect provider. */
  groupRef?: SubjectReference;
  /**
   * Roles in all projects of the organization. Without roles, the member has no rights in the projects.
   *
   * @listType map
   * @listMapKey name
   * @maxItems 32
   */
  roles?: MembershipRole[];
}

/** An Organization. */
export interface OrganizationReference {
  /**
   * Name of the Organization.
   *
   * @minLength 1
   * @maxLength 50
   */
  name: string;
}

/** A user or a group, by the name that authentication returns. */
export interface SubjectReference {
  /**
   * Name of the user or the group. Names of the platform, which start with system:, are not allowed.
   *
   * @minLength 1
   * @maxLength 253
   * @rule "!self.startsWith('system:')" message "names that start with system: are reserved for the platform"
   */
  name: string;
}

/** A role in the projects of an organization. */
export interface MembershipRole {
  /**
   * viewer, editor and admin are bound to the ClusterRoles view, edit and cluster-admin. Any other name is a ClusterRole of the projects,
   * for example from an addon of their class.
   *
   * @minLength 1
   * @maxLength 200
   * @pattern ^[A-Za-z0-9]([-A-Za-z0-9_.:]*[A-Za-z0-9])?$
   */
  name: string;
}

export interface OrganizationMembershipStatus {
  /**
   * The metadata.generation that this status was computed from.
   *
   * @format int64
   */
  observedGeneration?: number;
  /**
   * Conditions: Ready. It reports whether the membership is valid. The condition Ready of a project reports whether its roles are bound.
   *
   * @listType map
   * @listMapKey type
   */
  conditions?: Condition[];
}
