/** The kind ControlPlaneBackup: one backup of one control plane. */

import type { ApiObject } from '@hangar/client';
import type { Condition } from '@hangar/client/kinds/meta-v1';
import type { BackupDestination, ControlPlaneReference, EncryptionKeyReference } from './references.ts';

/**
 * One backup of a control plane. The operator makes it once.
 *
 * @shortName cpb
 * @category hangar
 * @column ControlPlane string .spec.controlPlaneRef.name
 * @column Phase string .status.phase
 * @column Size string .status.size
 * @column Objects integer .status.objects
 * @column Stored date .status.completionTime
 * @column Message string .status.conditions[?(@.type=="Complete")].message priority 1
 * @column Age date .metadata.creationTimestamp
 */
export interface ControlPlaneBackup extends ApiObject {
  /** Desired state. */
  spec: ControlPlaneBackupSpec;
  /** Observed state. */
  status?: ControlPlaneBackupStatus;
}

/** Content and place of a backup, shared by backups and schedules. */
export interface BackupSettings {
  /** Place of the backup. */
  destination: BackupDestination;
  /** Key that encrypts the backup. If unset, the backup is not encrypted. */
  encryption?: EncryptionKeyReference;
  /**
   * Compression of the backup.
   *
   * @default zstd
   */
  compression?: BackupCompression;
  /**
   * Whether the backup contains the CAs and signing keys, so that certificates and tokens stay valid after a restore. Defaults to Include
   * if the backup is encrypted, and to Omit otherwise.
   */
  keys?: BackupKeys;
}

export type BackupCompression = 'zstd' | 'none';
export type BackupKeys = 'Include' | 'Omit';
export type BackupDeletionPolicy = 'Retain' | 'Delete';
export type BackupPhase = 'Pending' | 'Running' | 'Complete' | 'Failed' | 'Deleting';

/** @rule "self == oldSelf || (self.destination == oldSelf.destination && self.controlPlaneRef == oldSelf.controlPlaneRef)" message "controlPlaneRef and destination are immutable" */
export interface ControlPlaneBackupSpec extends BackupSettings {
  /** Control plane to back up. */
  controlPlaneRef: ControlPlaneReference;
  /**
   * Whether the stored data is deleted with this object.
   *
   * @default Retain
   */
  deletionPolicy?: BackupDeletionPolicy;
}

export interface ControlPlaneBackupStatus {
  /** Pending, Running, Complete, Failed or Deleting. */
  phase?: BackupPhase;
  /** Name of the backup in its destination. */
  storedName?: string;
  /** The destination, for display. */
  location?: string;
  /**
   * Size of the stored bytes.
   *
   * @format int64
   */
  sizeBytes?: number;
  /** Size of the stored bytes, for display. */
  size?: string;
  /** SHA-256 of the stored bytes, hexadecimal. */
  sha256?: string;
  /**
   * Number of objects in the backup.
   *
   * @format int64
   */
  objects?: number;
  /** Digest of the objects in the backup. A restored control plane has the same. */
  contentDigest?: string;
  /** Revision of the store that the backup contains. */
  revision?: string;
  /** Whether the backup contains the CAs and signing keys. */
  hasKeys?: boolean;
  /** Versions of the programs that made the backup. */
  versions?: Record<string, string>;
  /**
   * Time at which the backup started.
   *
   * @format date-time
   */
  startTime?: string;
  /**
   * Time at which the backup was stored and verified.
   *
   * @format date-time
   */
  completionTime?: string;
  /**
   * Number of attempts so far.
   *
   * @format int32
   */
  attempts?: number;
  /**
   * The metadata.generation that this status was computed from.
   *
   * @format int64
   */
  observedGeneration?: number;
  /**
   * Conditions: Complete, and DataDeleted if the stored data cannot be deleted.
   *
   * @listType map
   * @listMapKey type
   */
  conditions?: Condition[];
}
