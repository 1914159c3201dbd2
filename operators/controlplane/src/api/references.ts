/** How objects of this group name each other, and what else they name. All of them are cluster-scoped: a name is enough. */

/** An object of this group. */
export interface NameReference {
  /**
   * Name of the referenced object.
   *
   * @minLength 1
   * @maxLength 253
   */
  name: string;
}

/** A Secret. */
export interface SecretReference {
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

/** A controller manager, by the Leases that its replicas renew while they run. */
export interface ControllerManagerReference {
  /**
   * The namespace of the Leases.
   *
   * @minLength 1
   * @maxLength 63
   */
  leaseNamespace: string;
  /**
   * The label hangar.dev/shard-group of the Leases.
   *
   * @minLength 1
   * @maxLength 63
   */
  leaseGroup: string;
  /**
   * The static shard that serves the object. If unset, any replica of the group serves it.
   *
   * @maxLength 63
   */
  shard?: string;
}

/** An object of any group, by its kind. */
export interface TypedReference {
  /**
   * API group of the referenced object. Defaults to the core group.
   *
   * @maxLength 253
   */
  apiGroup?: string;
  /**
   * Kind of the referenced object.
   *
   * @minLength 1
   * @maxLength 63
   */
  kind: string;
  /**
   * Name of the referenced object.
   *
   * @minLength 1
   * @maxLength 253
   */
  name: string;
}
