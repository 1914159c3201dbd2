/**
 * Identity of a tenant, written once in the transaction that creates the tenant. The revision of its key is the revision of the base layer
 * and the fence of every write to the tenant: a server that still has a destroyed tenant open cannot write.
 */

export interface TenantIdentity {
  /** Random. The UIDs of base objects are derived from it, so no two tenants share one. Backups and retained data keep it. */
  readonly seed: string;
  /** RFC 3339, in seconds. */
  readonly createdAt: string;
  /** The base is written into the range, as a real kube-apiserver requires; the tenant no longer uses the shared base. */
  readonly isMaterialised?: boolean;
  /**
   * The data of the tenant is being replaced by staged entries, and this is its identity afterwards. Requests to the tenant are refused
   * until then. See `backup/replacement.ts`.
   */
  readonly next?: TenantIdentity;
  /** Identifies the last restore in place, so that a repeated request does not replace the data again. */
  readonly restoreId?: string;
}

export const encodeIdentity = (identity: TenantIdentity): Buffer => Buffer.from(JSON.stringify(identity));

export const decodeIdentity = (value: Uint8Array): TenantIdentity =>
  JSON.parse(Buffer.from(value).toString()) as TenantIdentity;
