/** A tenant as the server needs to know it with every request: what its `Tenant` object says, read once per change. */

import type { KubeObject } from '@hangar/api';
import type { Entry, Revision } from '@hangar/store';
import { rootPath, tenantPrefix } from './layout.ts';

export type Suspension = 'ReadOnly' | 'Offline';

/** The server suspended the tenant by itself; see `quarantine.ts`. */
export interface Quarantine {
  readonly reason: string;
  /** Why, in a sentence for the tenant's users. */
  readonly message: string;
  /** RFC 3339. */
  readonly since: string;
  readonly until: string;
}

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
  readonly quarantine?: Quarantine;
  /** Nothing of it is shared any more: whoever has it open with its base opens it anew. */
  readonly isMaterialised?: boolean;
}

interface StoredTenant extends KubeObject {
  readonly spec?: TenantSpec;
  readonly status?: { readonly isMaterialised?: boolean; readonly quarantine?: Quarantine };
}

export const tenantGroup = 'tenancy.hangar.dev';
export const tenantVersion = 'v1alpha1';
export const tenantsName = { group: tenantGroup, version: tenantVersion, resource: 'tenants' };

/** Where the object of a tenant is stored. */
export const tenantKey = (storePrefix: string, path: string): string =>
  `${tenantPrefix(storePrefix, rootPath)}${tenantsPrefix}${path}`;

/** Below the root plane's prefix. */
export const tenantsPrefix = `${tenantGroup}/${tenantsName.resource}/`;

/** Throws when the value is no such object. */
export function tenantOf({ value, modRevision, createRevision }: Entry): Tenant {
  const object = JSON.parse(Buffer.from(value).toString()) as StoredTenant;
  const { name, uid } = object.metadata;
  const { isMaterialised, quarantine } = object.status ?? {};
  return {
    path: name!,
    uid: uid!,
    revision: modRevision,
    madeAt: createRevision,
    spec: object.spec ?? {},
    ...(isMaterialised ? { isMaterialised } : {}),
    ...(quarantine ? { quarantine } : {}),
  };
}
