/** host: the Hangar whose tenants virtual control planes are. Read `contract.ts`. */

export type { InsideChange, TenantHost } from './contract.ts';
export { pathHost } from './path-host.ts';
export type { PathHostOptions } from './path-host.ts';
export { kubeconfigHost } from './kubeconfig-host.ts';
export type { KubeconfigHostOptions } from './kubeconfig-host.ts';
export { issuedPair } from './issued.ts';
export type { WantedPair } from './issued.ts';
export { Tenant, tenantPath } from './tenant.ts';
export { tenantReplica, tenantReplicaRules } from './tenant-replica.ts';
export type { TenantObject, TenantSpec } from './tenant.ts';
