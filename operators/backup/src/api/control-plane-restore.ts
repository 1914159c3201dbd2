/** The kind ControlPlaneRestore: a control plane from a backup. */

import type { ApiObject } from '@hangar/client';
import type { Condition } from '@hangar/client/kinds/meta-v1';
import type { BackupDestination, ControlPlaneReference, EncryptionKeyReference } from './references.ts';

/**
 * Restores a backup into a new control plane, or in place. The operator executes it once.
 *
 * @shortName cpres
 * @category hangar
 * @column ControlPlane string .spec.controlPlaneRef.name
 * @column Mode string .spec.mode
 * @column Phase string .status.phase
 * @column Objects integer .status.objects
 * @column Message string .status.conditions[?(@.type=="Complete")].message priority 1
 * @column Age date .metadata.creationTimestamp
 */
export interface ControlPlaneRestore extends ApiObject {
  /** Desired state. */
  spec: ControlPlaneRestoreSpec;
  /** Observed state. */
  status?: ControlPlaneRestoreStatus;
}

export type RestoreMode = 'New' | 'InPlace';
export type RestorePhase = 'Pending' | 'Running' | 'Complete' | 'Failed';

/**
 * @rule "self == oldSelf" message "spec is immutable: create another ControlPlaneRestore"
 * @rule "self.mode != 'InPlace' || (has(self.confirmation) && self.confirmation == self.controlPlaneRef.name)"
 *   message "a restore in place replaces all data of the control plane: confirmation must be its name"
 */
export interface ControlPlaneRestoreSpec {
  /** Backup to restore. */
  source: RestoreSource;
  /** Control plane to create, or to replace in place. */
  controlPlaneRef: ControlPlaneReference;
  /**
   * New: creates the control plane, which must not exist. InPlace: replaces all data of an existing control plane; clients lose their
   * watches and list again.
   *
   * @default New
   */
  mode?: RestoreMode;
  /**
   * The name of the control plane. Required in place.
   *
   * @maxLength 253
   */
  confirmation?: string;
  /**
   * ControlPlaneClass of a new ControlPlane.
   *
   * @maxLength 253
   */
  className?: string;
}

/** @rule "has(self.backupName) != has(self.stored)" message "exactly one of backupName and stored must be set" */
export interface RestoreSource {
  /**
   * Name of a ControlPlaneBackup in the namespace of this object.
   *
   * @minLength 1
   * @maxLength 253
   */
  backupName?: string;
  /** A stored backup, for example one that another management cluster made. */
  stored?: StoredBackupReference;
}

export interface StoredBackupReference {
  /** Place of the backup. */
  destination: BackupDestination;
  /**
   * Name of the backup in its destination.
   *
   * @minLength 1
   * @maxLength 253
   */
  name: string;
  /** Key that decrypts the backup. */
  encryption?: EncryptionKeyReference;
}

export interface ControlPlaneRestoreStatus {
  /** Pending, Running, Complete or Failed. */
  phase?: RestorePhase;
  /**
   * Number of objects in the restored control plane.
   *
   * @format int64
   */
  objects?: number;
  /** Digest of the restored objects. Equal to the digest of the backup. */
  contentDigest?: string;
  /**
   * Time at which the restore started.
   *
   * @format date-time
   */
  startTime?: string;
  /**
   * Time at which the control plane was ready.
   *
   * @format date-time
   */
  completionTime?: string;
  /**
   * The metadata.generation that this status was computed from.
   *
   * @format int64
   */
  observedGeneration?: number;
  /**
   * Conditions: Complete.
   *
   * @listType map
   * @listMapKey type
   */
  conditions?: Condition[];
}
