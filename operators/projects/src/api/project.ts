/** The kind Project: a control plane of an organization. */

import type { ApiObject } from '@hangar/client';
import type { Condition } from '@hangar/client/kinds/meta-v1';

/**
 * A project of an organization. It owns the ControlPlane with its name. All data of the project is deleted with it.
 *
 * @category hangar
 * @column Organization string .spec.ownerRef.name
 * @column Ready string .status.conditions[?(@.type=="Ready")].status
 * @column Cleanup string .status.conditions[?(@.type=="ResourceCleanup")].reason priority 1
 * @column Message string .status.conditions[?(@.type=="Ready")].message priority 1
 * @column Age date .metadata.creationTimestamp
 * @rule "size(self.metadata.name) <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')"
 *   message "metadata.name must be a DNS label of at most 63 characters, because it is the name of the control plane"
 * @rule "!(self.metadata.name in ['system', 'platform', 'hangar', 'milo', 'kubernetes', 'root']) && !self.metadata.name.startsWith('kube-') && !self.metadata.name.startsWith('system-')"
 *   message "metadata.name is reserved for the platform"
 */
export interface Project extends ApiObject {
  /** Desired state. */
  spec: ProjectSpec;
  /** Observed state. */
  status?: ProjectStatus;
}

export interface ProjectSpec {
  /**
   * The owner of the project. Immutable.
   *
   * @rule "self == oldSelf" message "spec.ownerRef is immutable"
   */
  ownerRef: ProjectOwner;
}

export type ProjectOwnerKind = 'Organization';

export interface ProjectOwner {
  /** Kind of the owner. */
  kind: ProjectOwnerKind;
  /**
   * Name of the owner.
   *
   * @minLength 1
   * @maxLength 50
   */
  name: string;
}

export interface ProjectStatus {
  /** The ControlPlane of the project. Set when the control plane was ready for the first time. */
  controlPlaneRef?: ProjectControlPlane;
  /** Digest of the role bindings that were last written to the control plane. */
  rolesDigest?: string;
  /**
   * The metadata.generation that this status was computed from.
   *
   * @format int64
   */
  observedGeneration?: number;
  /**
   * Conditions: Ready, and ResourceCleanup while the project is being deleted. The message of ResourceCleanup names the objects that block
   * the deletion.
   *
   * @listType map
   * @listMapKey type
   */
  conditions?: Condition[];
}

export interface ProjectControlPlane {
  /** Name of the ControlPlane. */
  name: string;
  /** UID of the ControlPlane. */
  uid: string;
}
