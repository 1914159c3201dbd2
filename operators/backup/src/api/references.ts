/** References to control planes and Secrets, and the places of backups. */

/** A control plane of any kind. */
export interface ControlPlaneReference {
  /**
   * Kind of the control plane. A HostedControlPlane must be in the namespace of this object. A ControlPlane can only be referenced from the
   * namespace of the platform.
   *
   * @default ControlPlane
   */
  kind?: ControlPlaneKind;
  /**
   * Name of the control plane.
   *
   * @minLength 1
   * @maxLength 253
   */
  name: string;
}

export type ControlPlaneKind = 'ControlPlane' | 'HostedControlPlane';

/**
 * Place of a backup.
 *
 * @rule "has(self.s3) != has(self.folder)" message "exactly one of s3 and folder must be set"
 */
export interface BackupDestination {
  /** A bucket of an S3-compatible store. */
  s3?: S3Destination;
  /** A folder of the operator, for example on a PersistentVolume. */
  folder?: FolderDestination;
}

export interface S3Destination {
  /**
   * URL of the store. Defaults to the public endpoint of the region.
   *
   * @maxLength 2048
   * @pattern ^https?://[^/?#@]+$
   */
  endpoint?: string;
  /**
   * Region. Defaults to us-east-1.
   *
   * @maxLength 63
   */
  region?: string;
  /**
   * Name of the bucket.
   *
   * @minLength 3
   * @maxLength 63
   */
  bucket: string;
  /**
   * Prefix of all keys, without a slash at the start or the end.
   *
   * @maxLength 512
   * @pattern ^[^/].*[^/]$|^[^/]?$
   */
  prefix?: string;
  /** Secret with the credentials. */
  credentials: S3CredentialsReference;
}

/** A Secret with the keys accessKeyID and secretAccessKey, and optionally sessionToken and ca.crt. */
export interface S3CredentialsReference {
  /**
   * Name of the Secret.
   *
   * @minLength 1
   * @maxLength 253
   */
  name: string;
  /**
   * Namespace of the Secret. Defaults to the namespace of this object. A Secret of another namespace must allow it with the annotation
   * backup.hangar.dev/allowed-namespaces.
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
}

export interface FolderDestination {
  /**
   * Name of the folder, below the folder of the namespace in the folder of the operator.
   *
   * @minLength 1
   * @maxLength 63
   * @pattern ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$
   */
  name: string;
}

/** A Secret with a key of 32 bytes, as `hangar backup --key-file` accepts it. */
export interface EncryptionKeyReference {
  /**
   * Name of the Secret, in the namespace of this object.
   *
   * @minLength 1
   * @maxLength 253
   */
  name: string;
  /**
   * Key in the Secret. Defaults to key.
   *
   * @maxLength 253
   */
  key?: string;
}
