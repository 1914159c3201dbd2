/** Backups of control planes of both modes: the target of `@hangar/backup-operator`, and the requests that `hangar restore` shares with it. */

export { adoptTenant, exportTenant, restoreTenant } from './tenant-transfer.ts';
export type { AdoptTenantOptions, ExportTenantOptions, RestoreTenantOptions } from './tenant-transfer.ts';
export { SummarizedExport, summaryOf } from './export-summary.ts';
export { backupHostRules, backupTargetRules } from './rbac.ts';
export { controlPlaneTarget } from './control-plane-target.ts';
export type { ControlPlaneTargetOptions } from './control-plane-target.ts';
export { virtualTarget } from './virtual-target.ts';
export type { VirtualTargetOptions } from './virtual-target.ts';
