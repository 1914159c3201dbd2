/** A tenant as the server needs to know it with every request: what its `Tenant` object says, read once per change. */

import type { KubeObject } from '@hangar/api';
import type { Entry, Revision } from '@hangar/store';

export type Suspension = 'ReadOnly' | 'Offline';
export type DeletionPolicy = 'Retain' | 'Destroy';

/** Absent limits are none. */
export interface TenantQuota {
  readonly objects?: number;
  readonly storedBytes?: number;
  /** By resource: `configmaps`, `deployments.apps`. */
  readonly objectsPerKind?: Readonly<Record<string, number>>;
  readonly watches?: number;
  readonly requestsPerSecond?: number;
}

export interface TenantSpec {
  /** Names by which the tenant is reached besides its path; lower case. */
  readonly hosts?: readonly string[];
  readonly suspension?: Suspension;
  readonly deletionPolicy?: DeletionPolicy;
  readonly quota?: TenantQuota;
}

export interface Tenant {
  readonly path: string;
  /** Of the `Tenant` object: another one is another tenant, whatever its path. */
  readonly uid: string;
  readonly revision: Revision;
  /** The revision that made the object. */
  readonly madeAt: Revision;
  readonly spec: TenantSpec;
  /** Nothing of it is shared any more: whoever has it open with its base opens it anew. */
  readonly isMaterialised?: boolean;
}

interface StoredTenant extends KubeObject {
  readonly spec?: TenantSpec;
  readonly status?: { readonly isMaterialised?: boolean };
}

export const tenantGroup = 'tenancy.hangar.dev';
export const tenantVersion = 'v1alpha1';
export const tenantsName = { group: tenantGroup, version: tenantVersion, resource: 'tenants' };

/** Below the root plane's prefix. */
export const tenantsPrefix = `${tenantGroup}/${tenantsName.resource}/`;

/** Throws when the value is no such object. */
export function tenantOf({ value, modRevision, createRevision }: Entry): Tenant {
  const object = JSON.parse(Buffer.from(value).toString()) as StoredTenant;
  const { name, uid } = object.metadata;
  const tenant = { path: name!, uid: uid!, revision: modRevision, madeAt: createRevision, spec: object.spec ?? {} };
  return object.status?.isMaterialised ? { ...tenant, isMaterialised: true } : tenant;
}
