/** The etcd cluster of a hosted control plane. */

import type { PodSpec, Quantity } from './containers.ts';

/**
 * A version of etcd, such as 3.6.8 or 3.6.8-0.
 *
 * @maxLength 16
 * @pattern ^3\.(5|6)\.(0|[1-9][0-9]{0,2})(-[0-9]{1,3})?$
 * @rule "int(self.split('.')[1]) > int(oldSelf.split('.')[1]) ||
 *     (int(self.split('.')[1]) == int(oldSelf.split('.')[1]) &&
 *     int(self.split('.')[2].split('-')[0]) >= int(oldSelf.split('.')[2].split('-')[0]))"
 *   message "the version of etcd cannot be decreased"
 */
export type EtcdVersion = string;

/**
 * @rule "!(has(self.volumeSize) && has(self.autoGrow) && self.autoGrow)" message "autoGrow cannot be true when volumeSize is set"
 * @rule "has(self.volumeSize) || !has(self.autoGrow) || self.autoGrow" message "autoGrow cannot be false when volumeSize is not set"
 * @rule "!has(self.volumeSize) || !has(self.volumeSizeMax)" message "volumeSizeMax cannot be set when volumeSize is set"
 * @rule "!has(oldSelf.volumeSize) || !has(self.volumeSize) ||
 *     quantity(string(self.volumeSize)).compareTo(quantity(string(oldSelf.volumeSize))) >= 0"
 *   message "volumeSize cannot be decreased"
 */
export interface EtcdSpec extends PodSpec {
  /**
   * Version of etcd, such as 3.6.8. Defaults to the version for spec.version. Before the next minor version, the operator makes a snapshot;
   * members are upgraded one at a time.
   */
  version?: EtcdVersion;
  /**
   * Number of members: 1, 3 or 5. After a change, members are added or removed one at a time; the data of removed members is deleted.
   *
   * @format int32
   * @minimum 1
   * @maximum 5
   * @default 3
   * @rule "self % 2 == 1" message "must be 1, 3 or 5"
   */
  replicas?: number;
  /** Size of the volume of each member. Defaults to 8Gi. It cannot be decreased. */
  volumeSize?: Quantity;
  /**
   * Whether volumes grow when they are nearly full: by half, up to volumeSizeMax. The storage class must allow it. Defaults to true if
   * volumeSize is not set.
   */
  autoGrow?: boolean;
  /**
   * Largest size that autoGrow gives to the volume of each member. Defaults to 20Gi: the quota of etcd derives from the size of the volume,
   * and is at most 8Gi.
   */
  volumeSizeMax?: Quantity;
  /**
   * Periodic snapshots in a bucket of an S3-compatible store: becomes a ControlPlaneBackupSchedule that this object owns, and that keeps the
   * newest 30 backups. Create a ControlPlaneBackupSchedule instead for encryption, other retention, or drills.
   */
  backup?: EtcdBackup;
}

export interface EtcdBackup {
  /**
   * Time of the snapshots: a cron expression of five fields, each a number or a star, or @daily, which spreads the snapshots of all
   * control planes over the hour after midnight.
   *
   * @pattern ^(@daily|(\*|[0-9]|[1-5][0-9]) (\*|[0-9]|1[0-9]|2[0-3]) (\*|[1-9]|[1-2][0-9]|3[0-1]) (\*|[1-9]|1[0-2]) (\*|[0-6]))$
   */
  schedule: string;
  /** Secret with the address and the credentials of the store. */
  secret: EtcdBackupSecret;
}

export interface EtcdBackupSecret {
  /**
   * Name of the Secret.
   *
   * @minLength 1
   * @maxLength 253
   */
  name: string;
  /**
   * Namespace of the Secret. Defaults to the namespace of the control plane.
   *
   * @minLength 1
   * @maxLength 63
   */
  namespace?: string;
  /**
   * Key with the access key ID. Defaults to accessKeyID.
   *
   * @maxLength 253
   */
  accessKeyIDKey?: string;
  /**
   * Key with the secret access key. Defaults to secretAccessKey.
   *
   * @maxLength 253
   */
  secretAccessKeyKey?: string;
  /**
   * Key with the host of the store, with a port if necessary, without a scheme. Defaults to host.
   *
   * @maxLength 253
   */
  hostKey?: string;
  /**
   * Key with the region. Defaults to region.
   *
   * @maxLength 253
   */
  regionKey?: string;
  /**
   * Key with the bucket and, after a slash, a prefix. Defaults to bucket.
   *
   * @maxLength 253
   */
  bucketKey?: string;
}
