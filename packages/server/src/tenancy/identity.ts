/**
 * What a tenant is born with, written once in the transaction that makes it. Its key's revision is that of the base layer,
 * and the fence of everything that is written for the tenant: whoever still holds one that was destroyed writes nothing.
 */

export interface TenantIdentity {
  /** Random; the UIDs of base objects are made of it, so that no two tenants share one. Kept by backups and retained data. */
  readonly seed: string;
  /** RFC 3339, in seconds. */
  readonly createdAt: string;
  /** The base is written into the range, as a real kube-apiserver needs it: nothing of it is shared any more. */
  readonly isMaterialised?: boolean;
}

export const encodeIdentity = (identity: TenantIdentity): Buffer => Buffer.from(JSON.stringify(identity));

export const decodeIdentity = (value: Uint8Array): TenantIdentity =>
  JSON.parse(Buffer.from(value).toString()) as TenantIdentity;
