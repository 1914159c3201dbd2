/** @hangar/backup-operator: the kinds ControlPlaneBackup, ControlPlaneBackupSchedule and ControlPlaneRestore, and their controllers. */

export * from './api/index.ts';
export * from './errors.ts';
export type * from './target.ts';
