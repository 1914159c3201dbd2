/** The kind `Tenant` as its clients see it: a virtual control plane of a Hangar, named by its path. */

import { defineKind } from '@hangar/client';
import type { ApiObject } from '@hangar/client';

export interface TenantSpec {
  hosts?: string[];
  suspension?: 'ReadOnly' | 'Offline';
  deletionPolicy?: 'Retain' | 'Destroy';
  /** Read only when the tenant is created. */
  retainedData?: 'Adopt' | 'Refuse';
  /** Managed by others: never written here. */
  quota?: object;
  /** Absent: nodes cannot join. */
  nodes?: { enabled?: boolean; networks?: string[] };
  /** Field `jwt` of an AuthenticationConfiguration. Absent: no external users. */
  authentication?: { jwt?: object[] };
}

export interface TenantObject extends ApiObject {
  spec?: TenantSpec;
  status?: {
    url?: string;
    /** How nodes reach the control plane. `caBundle` is PEM in base64. */
    nodes?: { port: number; endpoint: string; caBundle: string; serviceCIDR: string; problem?: string };
    quarantine?: { reason: string; message: string; until: string };
  };
}

export const Tenant = defineKind<TenantObject>({
  apiVersion: 'tenancy.hangar.dev/v1alpha1',
  kind: 'Tenant',
  plural: 'tenants',
  isNamespaced: false,
});

/** Path of a tenant below its host's address. */
export const tenantPath = (path: string): string => `/clusters/${path}/control-plane`;
